"""EMTraceDisplay: how the topics of ILFS were learned, and what they became."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from tamis.exceptions import InputError
from tamis.plots._display import BLUE, FittedDisplay


@dataclass(eq=False, repr=False)
class EMTraceDisplay(FittedDisplay):
    """Log-likelihood of ILFS against the step, and the token profiles of its two topics.

    On the left, whether the steps of expectation maximisation settled. On the right, what the
    topics mean: the relevant one favours high tokens, values close to the mean of their own class.
    `from_estimator` takes a fitted ILFS.

    Parameters
    ----------
    log_likelihood : array-like of shape (n_steps + 1,)
        At the start and after every step.
    token_profile : array-like of shape (2, n_tokens)
        Probability of every token in the relevant and in the irrelevant topic.
    name : str or None, default=None
        Name of the method, for the title.
    measure : str, default="log-likelihood"
        What the trace is, for the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        The axes given (or made), which hold the two others, and their figure.
    trace_ax_, profile_ax_ : matplotlib objects
        The axes drawn on. All are set by :meth:`plot`.

    Examples
    --------
    >>> from tamis.plots import EMTraceDisplay
    >>> display = EMTraceDisplay([-9.0, -7.5, -7.2], [[0.1, 0.3, 0.6], [0.6, 0.3, 0.1]])
    >>> display.mean_tokens
    (2.5, 1.5)
    """

    log_likelihood: Any
    token_profile: Any
    _: KW_ONLY
    name: str | None = None
    measure: str = "log-likelihood"

    _needs = "token_profile_", "ILFS", "which has no topics"

    def __post_init__(self) -> None:
        self._store_floats("log_likelihood", "token_profile")
        if self.token_profile.ndim != 2 or self.token_profile.shape[0] != 2:
            raise InputError(
                "EMTraceDisplay: expected a token_profile with two rows, one per topic, got shape "
                f"{self.token_profile.shape}. Pass token_profile_ of a fitted ILFS."
            )

    @classmethod
    def _read(cls, estimator: Any) -> dict[str, Any]:
        anchored = getattr(estimator, "topics", "free") == "anchored"
        return {
            "log_likelihood": estimator.log_likelihood_,
            "token_profile": estimator.token_profile_,
            "measure": "log-likelihood + log-prior" if anchored else "log-likelihood",
        }

    @property
    def mean_tokens(self) -> tuple[float, float]:
        """Mean token of the relevant and of the irrelevant topic; tokens start at 1."""
        tokens = np.arange(1, self.token_profile.shape[1] + 1)
        relevant, irrelevant = self.token_profile @ tokens
        return round(float(relevant), 12), round(float(irrelevant), 12)

    def _draw(self, ax: Any) -> None:
        ax.set_axis_off()
        self.trace_ax_ = ax.inset_axes((0.0, 0.0, 0.48, 1.0))
        self.profile_ax_ = ax.inset_axes((0.62, 0.0, 0.38, 1.0))
        self._draw_trace(self.trace_ax_)
        self._draw_profiles(self.profile_ax_)
        for part in (self.trace_ax_, self.profile_ax_):
            part.spines[["top", "right"]].set_visible(False)
        ax.set_title(f"How {self.name or 'ILFS'} learned its two topics", pad=26)

    def _draw_trace(self, ax: Any) -> None:
        n = self.log_likelihood.size
        marker = "o" if n <= 60 else None
        ax.plot(np.arange(n), self.log_likelihood, color="0.25", marker=marker, markersize=3.5,
                linewidth=1.4)  # fmt: skip
        ax.set(xlabel="step", ylabel=self.measure)
        ax.set_title(f"{n - 1} steps" if n != 2 else "1 step", fontsize="medium")
        ax.xaxis.get_major_locator().set_params(integer=True)

    def _draw_profiles(self, ax: Any) -> None:
        tokens = np.arange(1, self.token_profile.shape[1] + 1)
        looks = (("relevant", BLUE, -0.2), ("irrelevant", "0.7", 0.2))
        for (topic, color, shift), profile, mean in zip(
            looks, self.token_profile, self.mean_tokens, strict=True
        ):
            ax.bar(tokens + shift, profile, width=0.4, color=color,
                   label=f"{topic}, mean {mean:.1f}")  # fmt: skip
        ax.set(xlabel="token: 1 far from its class", ylabel="probability", xticks=tokens)
        ax.set_ylim(0.0, 1.3 * self.token_profile.max())
        ax.set_title("Tokens of each topic", fontsize="medium")
        ax.legend(frameon=False, fontsize="small", loc="upper center")
