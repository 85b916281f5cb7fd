// All traversal kernels for one instruction set: TORCHCENT_ISA names its namespace. Standard headers come
// before the target pragma of the file that includes this, and everything here lives in that namespace, so
// that no code for a newer processor can be linked into the portable path.
#include "buffer.h"
#include "wide.h"
#include "lanes.h"
#include "queue.h"

namespace torchcent::TORCHCENT_ISA {

template <class Visitor>
std::unique_ptr<Search> make(const PathProblem& problem, Engine engine, Rung rung) {
  if (rung == Rung::wide) return std::make_unique<QueueSearch<Wide, Visitor>>(problem);
  if (engine == Engine::queue) return std::make_unique<QueueSearch<double, Visitor>>(problem);
  if (rung == Rung::float64) return std::make_unique<LaneSearch<double, Visitor>>(problem);
  return std::make_unique<LaneSearch<float, Visitor>>(problem);
}

std::unique_ptr<Search> make_search(const PathProblem& problem, Measure measure, Engine engine, Rung rung) {
  switch (measure) {
    case Measure::betweenness: return make<Betweenness>(problem, engine, rung);
    case Measure::edge_betweenness: return make<EdgeBetweenness>(problem, engine, rung);
    case Measure::stress: return make<Stress>(problem, engine, rung);
  }
  return nullptr;
}

}  // namespace torchcent::TORCHCENT_ISA
