"""PyTorch Geometric transforms: centralities, clusters and encodings of vertices and pairs."""

from torchcent.transforms._curvature import SDRF as SDRF
from torchcent.transforms._curvature import AddCurvature as AddCurvature
from torchcent.transforms._diffusion import AddDiffusion as AddDiffusion
from torchcent.transforms._edges import AddEdgeCentrality as AddEdgeCentrality
from torchcent.transforms._edges import AddPairFeatures as AddPairFeatures
from torchcent.transforms._encodings import AddEncodings as AddEncodings
from torchcent.transforms._pairs import AddShortestPathEncoding as AddShortestPathEncoding
from torchcent.transforms._patterns import AddSubstructureCounts as AddSubstructureCounts
from torchcent.transforms._patterns import AddWLColors as AddWLColors
from torchcent.transforms._spectra import AddLaplacianEncoding as AddLaplacianEncoding
from torchcent.transforms._spectra import AddPairEncoding as AddPairEncoding
from torchcent.transforms._spectra import AddSpectralEncoding as AddSpectralEncoding
from torchcent.transforms._vertices import AddCentrality as AddCentrality
from torchcent.transforms._vertices import AddClusters as AddClusters
from torchcent.transforms._vertices import AddLandmarkDistances as AddLandmarkDistances
from torchcent.transforms._vertices import AddRandomWalkEncoding as AddRandomWalkEncoding

__all__ = [
    "AddCentrality",
    "AddClusters",
    "AddCurvature",
    "AddDiffusion",
    "AddEdgeCentrality",
    "AddEncodings",
    "AddLandmarkDistances",
    "AddLaplacianEncoding",
    "AddPairEncoding",
    "AddPairFeatures",
    "AddRandomWalkEncoding",
    "AddShortestPathEncoding",
    "AddSpectralEncoding",
    "AddSubstructureCounts",
    "AddWLColors",
    "SDRF",
]
