"""Mixtures on the sphere: densities, maximum likelihood, assignment (paper, section 2.2)."""

from nes_spark.mixture.fit import MixtureSetting, fit_mixture
from nes_spark.mixture.model import MixtureModel, Restart

__all__ = ["MixtureModel", "MixtureSetting", "Restart", "fit_mixture"]
