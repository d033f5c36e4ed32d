"""Mixtures on the sphere: densities, maximum likelihood, assignment (paper, section 2.2)."""

from typing import TYPE_CHECKING

from nes_spark.lazy import lazily

if TYPE_CHECKING:
    from nes_spark.mixture.estimator import SphericalMixture
    from nes_spark.mixture.fit import fit_mixture
    from nes_spark.mixture.model import MixtureModel, Restart
    from nes_spark.mixture.settings import MixtureSetting

__all__ = ["MixtureModel", "MixtureSetting", "Restart", "SphericalMixture", "fit_mixture"]

__getattr__ = lazily(
    __name__,
    {
        "estimator": ("SphericalMixture",),
        "fit": ("fit_mixture",),
        "model": ("MixtureModel", "Restart"),
        "settings": ("MixtureSetting",),
    },
)
