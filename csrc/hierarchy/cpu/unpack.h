#pragma once

#include "hierarchy/hierarchy.h"

namespace torchcent {

// Adds the flow of each arc to its parts, which are arcs between lower vertices: those of longer arcs first, and to what
// passes inside of the vertex between them. What is left to do is the part of an arc that is an edge. With up == nullptr
// flows have no direction. All are in the order of the hierarchy.
void unpack(const Hierarchy& hierarchy, double* down, double* up, double* inside);

}  // namespace torchcent
