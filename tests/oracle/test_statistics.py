"""The statistics against scipy, statsmodels, and what is worked out here from a definition, on random inputs.

Where the formula is the same, both agree to 1e-12 of the larger; where one side searches or integrates by number, the
tolerance says how well it does.
"""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from lm_eval.api import metrics as lm_eval_metrics
from statistics_program import Statistics

# The same inputs in every run; a busy machine is no failure.
settings.register_profile("statistics", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("statistics")

confidences = st.sampled_from([0.8, 0.9, 0.95, 0.99])
scores = st.floats(0, 1, width=32) | st.sampled_from([0.0, 1.0])


@pytest.fixture(scope="module")
def ask():
    program = Statistics()
    yield program
    program.close()


def close(ours, theirs, relative=1e-12, absolute=1e-12):
    return ours == pytest.approx(theirs, rel=relative, abs=absolute)


@st.composite
def rates(draw):
    trials = draw(st.integers(1, 5000))
    return draw(st.integers(0, trials)), trials


@given(rates(), confidences)
def test_rates_have_the_intervals_of_statsmodels(ask, rate, confidence):
    seen, trials = rate
    for ours, theirs in (("wilson", "wilson"), ("exact", "beta")):
        found = ask(ours, seen=seen, trials=trials, confidence=confidence)
        assert close(found, list(proportion_confint(seen, trials, 1 - confidence, theirs)), 1e-10), ours


@given(st.lists(scores, min_size=2, max_size=60), confidences)
def test_a_mean_has_the_standard_error_and_the_interval_of_scipy(ask, values, confidence):
    found = ask("mean", values=values, confidence=confidence)
    error = stats.sem(values)
    assert close(found["value"], np.mean(values))
    assert close(found["standard_error"], error)
    if error > 1e-9:
        theirs = stats.t.interval(confidence, len(values) - 1, np.mean(values), error)
        assert close(found["interval"], list(theirs), 1e-11)


@given(
    st.lists(st.tuples(scores, st.integers(0, 7)), min_size=3, max_size=60).filter(
        lambda rows: len({cluster for _, cluster in rows}) > 1
    )
)
def test_a_clustered_mean_is_that_of_a_regression_on_a_constant(ask, rows):
    values, clusters = [list(column) for column in zip(*rows)]
    found = ask("clustered", values=values, clusters=clusters, confidence=0.95)
    fit = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(clusters), "use_correction": True}, use_t=True
    )
    assert close(found["value"], fit.params[0])
    assert close(found["standard_error"], fit.bse[0], 1e-9, 1e-9)
    assert found["degrees"] == len(set(clusters)) - 1
    if fit.bse[0] > 1e-6:
        assert close(found["interval"], list(fit.conf_int(0.05)[0]), 1e-8, 1e-8)


@given(st.lists(st.lists(scores, min_size=2, max_size=20), min_size=1, max_size=6))
def test_a_macro_average_of_two_strata_is_the_half_of_welchs_sum(ask, strata):
    found = ask("stratified", values=sum(strata, []), sizes=[len(one) for one in strata], confidence=0.95)
    errors = np.array([stats.sem(one) for one in strata])
    assert close(found["value"], np.mean([np.mean(one) for one in strata]))
    assert close(found["standard_error"], np.sqrt(np.sum(errors**2)) / len(strata))
    if len(strata) == 2 and errors.min() > 1e-6:
        # Welch's t is of the difference, which has the same variance as the sum.
        theirs = stats.ttest_ind(strata[0], strata[1], equal_var=False)
        assert close(found["degrees"], theirs.df, 1e-9)


@given(st.lists(st.tuples(scores, scores), min_size=2, max_size=60))
def test_a_paired_difference_is_that_of_the_paired_t_test(ask, pairs):
    first, second = [list(column) for column in zip(*pairs)]
    found = ask("paired", first=first, second=second, clusters=[], confidence=0.9)
    assert close(found["value"], np.mean(second) - np.mean(first))
    if stats.sem(np.subtract(second, first)) > 1e-6:
        theirs = stats.ttest_rel(second, first).confidence_interval(0.9)
        assert close(found["interval"], [theirs.low, theirs.high], 1e-10, 1e-10)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemars_exact_test_is_that_of_statsmodels(ask, first, second):
    theirs = mcnemar([[0, first], [second, 0]], exact=True).pvalue if first + second else 1
    assert close(ask("mcnemar", first=first, second=second), theirs, 1e-11)


def score_statistic(gained, lost, pairs, difference):
    """From its definition: the rate of losses is the likeliest one if the difference is that, found by search."""

    def unlikeliness(rate_lost):
        probabilities = np.array([rate_lost + difference, rate_lost, 1 - 2 * rate_lost - difference])
        counts = np.array([gained, lost, pairs - gained - lost])
        if (probabilities[counts > 0] <= 0).any():
            return np.inf
        return -np.sum(counts[counts > 0] * np.log(probabilities[counts > 0]))

    low, high = max(0, -difference), (1 - difference) / 2
    found = optimize.minimize_scalar(unlikeliness, bounds=(low, high), method="bounded", options={"xatol": 1e-13})
    best = min([found.x, low, high], key=unlikeliness)
    variance = (2 * best + difference - difference**2) / pairs
    return ((gained - lost) / pairs - difference) / math.sqrt(variance)


@st.composite
def tables(draw):
    pairs = draw(st.integers(1, 400))
    gained = draw(st.integers(0, pairs))
    return gained, draw(st.integers(0, pairs - gained)), pairs


@given(tables(), st.floats(-0.95, 0.95).filter(lambda difference: abs(difference) > 1e-3))
def test_tangos_statistic_is_that_of_the_likeliest_rates(ask, table, difference):
    gained, lost, pairs = table
    ours = ask("tango_statistic", gained=gained, lost=lost, pairs=pairs, difference=difference)
    assert close(ours, score_statistic(gained, lost, pairs, difference), 1e-4, 1e-4)


@given(tables(), confidences)
def test_tangos_interval_ends_where_the_statistic_is_the_quantile(ask, table, confidence):
    gained, lost, pairs = table
    low, high = ask("tango", gained=gained, lost=lost, pairs=pairs, confidence=confidence)
    quantile = stats.norm.ppf((1 + confidence) / 2)
    for end, side in ((low, 1), (high, -1)):
        if abs(end) < 0.99:
            assert close(score_statistic(gained, lost, pairs, end), side * quantile, 1e-3, 1e-3)


@given(tables(), st.floats(0.005, 0.3), st.sampled_from([0.01, 0.025, 0.05, 0.1]))
def test_non_inferiority_of_right_or_wrong_scores_is_the_score_statistics_tail(ask, table, margin, alpha):
    gained, lost, pairs = table
    found = ask("compare_binary", gained=gained, lost=lost, pairs=pairs, margin=margin, alpha=alpha)
    z = score_statistic(gained, lost, pairs, -margin)
    assert close(found["difference"], (gained - lost) / pairs)
    assert close(found["p_non_inferior"], stats.norm.sf(z), 1e-3, 1e-4)
    assert close(found["p_inferior"], stats.norm.cdf(z), 1e-3, 1e-4)
    ours = ask("tango_statistic", gained=gained, lost=lost, pairs=pairs, difference=-margin)
    assert close(found["p_non_inferior"], stats.norm.sf(ours), 1e-12, 1e-300)
    assert found["bounds"] == ask("tango", gained=gained, lost=lost, pairs=pairs, confidence=1 - 2 * alpha)


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=60), st.floats(0.01, 0.3))
def test_non_inferiority_of_scores_is_a_one_sided_t_test_and_never_surer_than_the_binomial(ask, differences, margin):
    found = ask("compare_scores", differences=differences, margin=margin, alpha=0.05)
    n, excess = len(differences), np.mean(differences) + margin
    if stats.sem(differences) < 1e-6:
        return
    theirs = stats.ttest_1samp(differences, -margin, alternative="greater").pvalue
    unseen = stats.binom.pmf(0, n, min(1, max(0, excess)))
    assert close(found["p_non_inferior"], max(theirs, unseen), 1e-8, 1e-10)
    half = max(stats.t.ppf(0.95, n - 1) * stats.sem(differences), 1 - 0.05 ** (1 / n))
    mean = np.mean(differences)
    assert close(found["bounds"], [max(-1, mean - half), min(1, mean + half)], 1e-9, 1e-9)


@given(st.floats(0.02, 1.5), st.integers(2, 2000), st.sampled_from([0.01, 0.025, 0.05, 0.1]))
def test_the_power_is_that_of_statsmodels(ask, effect, n, alpha):
    ours = ask("power", spread=1, margin=effect, difference=0, alpha=alpha, n=n)
    theirs = TTestPower().power(effect, n, alpha, alternative="larger")
    if math.isnan(theirs):  # scipy's noncentral t, far out.
        assert ours > 0.999999
        return
    assert close(ours, theirs, 1e-7, 1e-7)


@given(st.floats(0.05, 1), st.sampled_from([0.01, 0.05]), st.sampled_from([0.5, 0.8, 0.9]))
@settings(max_examples=20)
def test_the_items_needed_are_those_of_statsmodels_rounded_up(ask, effect, alpha, power):
    theirs = TTestPower().solve_power(effect, None, alpha, power, "larger")
    if abs(theirs - round(theirs)) > 1e-4:
        ours = ask("items_needed", spread=0.5, margin=0.5 * effect, difference=0, alpha=alpha, power=power)
        assert ours == max(2, math.ceil(theirs))


@given(
    st.floats(0.05, 1), st.integers(3, 2000), st.sampled_from([0.01, 0.05]), st.sampled_from([0.5, 0.8, 0.95])
)
@settings(max_examples=30)
def test_the_detectable_effect_has_the_power_by_statsmodels(ask, spread, n, alpha, power):
    # Not solve_power, whose solver stops at about 1e-5.
    effect = ask("detectable_effect", spread=spread, n=n, power=power, alpha=alpha)
    assert close(float(np.squeeze(TTestPower().power(effect / spread, n, alpha, alternative="larger"))), power, 1e-9)


@given(st.integers(2, 6), st.sampled_from([1e-3, 1e-4, 1e-6]), st.sampled_from([0.5, 0.8]))
@settings(max_examples=20)
def test_the_detectable_effect_of_few_items_has_the_power_by_integration(ask, n, alpha, power):
    effect = ask("detectable_effect", spread=1, n=n, power=power, alpha=alpha)
    critical, shift, free = stats.t.isf(alpha, n - 1), effect * math.sqrt(n), n - 1

    # Over the standard deviation, whose square is chi-squared. Around the knee the mean's own tail goes from all to nothing.
    def density(deviation):
        return stats.chi.pdf(deviation, free) * stats.norm.cdf(shift - critical * deviation / math.sqrt(free))

    knee, width = shift / critical * math.sqrt(free), 20 * math.sqrt(free) / critical
    low = max(0, knee - width)
    reached = stats.chi.cdf(low, free) + sum(
        integrate.quad(density, *ends, limit=500, epsabs=1e-12)[0] for ends in ((low, knee), (knee, knee + width)))
    assert close(reached, power, 1e-6)


@given(st.lists(scores, min_size=2, max_size=60))
def test_a_mean_has_the_standard_error_of_lm_eval(ask, values):
    assert close(ask("mean", values=values, confidence=0.95)["standard_error"], lm_eval_metrics.mean_stderr(values))


@given(st.lists(st.lists(scores, min_size=2, max_size=20), min_size=2, max_size=6))
def test_a_pooled_mean_has_the_standard_error_of_lm_evals_groups(ask, groups):
    """lm-eval pools the groups' variances, by size; where all sizes are equal that is the strata's own error."""
    size = min(len(one) for one in groups)
    groups = [one[:size] for one in groups]
    found = ask("stratified", values=sum(groups, []), sizes=[size] * len(groups), confidence=0.95)
    errors = [stats.sem(one) for one in groups]
    theirs = lm_eval_metrics.pooled_sample_stderr(errors, [size] * len(groups))
    total = size * len(groups)
    # Its divisor is the degrees of freedom in the pooled variance and the items in the mean's.
    assert close(found["standard_error"], theirs, 1e-9, 1e-12), (total, size)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=20)
def test_holms_p_values_are_those_of_statsmodels(ask, p_values):
    assert close(ask("holm", p=p_values), list(multipletests(p_values, method="holm")[1]))


def crossing(bounds, fractions):
    """The probability that a Brownian motion is above one of the bounds (two looks), by scipy's integration."""
    (first, second), (t, u) = bounds, fractions
    stays = integrate.quad(
        lambda x: stats.norm.pdf(x) * stats.norm.cdf((second * math.sqrt(u) - x * math.sqrt(t)) / math.sqrt(u - t)),
        -12, first, epsabs=1e-13, epsrel=1e-13, limit=200,
    )[0]  # fmt: skip
    return 1 - stays


@given(st.floats(0.15, 0.9), st.sampled_from([0.01, 0.025, 0.05]))
@settings(max_examples=20)
def test_two_looks_spend_what_the_spending_function_says(ask, fraction, alpha):
    first, second = ask("looks", fractions=[fraction, 1], alpha=alpha)
    assert close(first["spent"], 2 * stats.norm.sf(stats.norm.isf(alpha / 2) / math.sqrt(fraction)), 1e-9)
    assert close(crossing([first["z"], second["z"]], [fraction, 1]), alpha, 1e-6)


def test_ten_looks_stop_as_seldom_as_the_level_says(ask):
    """By simulation: a million paths, of which the share that crosses has a standard error of 0.00022."""
    fractions = [i / 10 for i in range(1, 11)]
    looks = ask("looks", fractions=fractions, alpha=0.05)
    generator = np.random.default_rng(11)
    paths = np.cumsum(generator.standard_normal((1_000_000, 10)) / math.sqrt(10), axis=1)
    crossed = (paths / np.sqrt(fractions) > [look["z"] for look in looks]).any(axis=1)
    assert abs(crossed.mean() - 0.05) < 4 * 0.00022


def splitmix(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def drawn(seed, number, n):
    """The indices that a resample draws, with numpy's 64-bit arithmetic."""
    with np.errstate(over="ignore"):
        key = splitmix(splitmix(np.uint64(seed)) + np.uint64(number))
        counters = np.arange(1, (n + 1) // 2 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        bits = splitmix(key + counters)
    halves = np.stack([bits >> np.uint64(32), bits & np.uint64(0xFFFFFFFF)], axis=1).ravel()[:n]
    return ((halves * np.uint64(n)) >> np.uint64(32)).astype(int)


@given(st.lists(st.tuples(scores, st.floats(0.5, 3)), min_size=1, max_size=50), st.integers(0, 2**40))
@settings(max_examples=20)
def test_replicates_are_those_of_the_same_draws_in_numpy(ask, items, seed):
    above, below = [np.array(column) for column in zip(*items)]
    ours = ask("replicates", numerators=list(above), denominators=list(below), seed=seed, first=3, resamples=20)
    for i, one in enumerate(ours):
        chosen = drawn(seed, 3 + i, len(items))
        assert close(one, above[chosen].sum() / below[chosen].sum())


@given(st.lists(scores, min_size=2, max_size=40), confidences)
@settings(max_examples=20)
def test_the_percentile_interval_is_numpys_quantiles(ask, values, confidence):
    given_items = {"numerators": values, "denominators": [1.0] * len(values), "seed": 5, "first": 0, "resamples": 300}
    replicates = ask("replicates", **given_items)
    found = ask("bootstrap", **given_items, confidence=confidence)
    assert close(found["interval"], list(np.quantile(replicates, [(1 - confidence) / 2, (1 + confidence) / 2])))
    assert close(found["standard_error"], np.std(replicates, ddof=1))


def test_the_bootstrap_of_f1_is_scipys_within_chance(ask):
    generator = np.random.default_rng(3)
    true, said = generator.random((2, 400)) < [[0.4], [0.5]]
    hit, union = 2 * (true & said), true.astype(int) + said
    found = ask("bootstrap", numerators=hit.tolist(), denominators=union.tolist(), seed=1, first=0, resamples=20000,
                confidence=0.95)  # fmt: skip
    theirs = stats.bootstrap(
        (hit, union), lambda a, b, axis: a.sum(axis=axis) / b.sum(axis=axis), paired=True, vectorized=True,
        method="percentile", n_resamples=20000, batch=1000, rng=np.random.default_rng(4),
    )  # fmt: skip
    assert close(found["standard_error"], theirs.standard_error, 0.03)
    tolerance = 0.1 * theirs.standard_error  # Of a 2.5 % quantile of 20,000: some 0.02 standard errors.
    assert close(found["interval"], list(theirs.confidence_interval), 0, tolerance)
