import CEvalCore
import Foundation

/// Compares runs of one suite item by item, all others with the first: what `evalcore compare --json` prints
/// (`docs/statistics.md`).
///
/// - Parameters:
///   - runs: Stores (`run.db`), or the folders that hold them; two at least.
///   - suite: The suite; nil: where the first run found it.
///   - answers: The answers of a BFCL suite.
/// - Throws: ``EvalError``: `invalidArgument` for runs of different suites or scorers, `notFound`, `busy`, `badSuite`,
///   `storage`.
public func compareRuns(_ runs: [String], suite: String? = nil, answers: String? = nil) async throws -> String {
    try await withoutBlocking {
        var told: OpaquePointer?
        try withTexts(runs[...]) { runs in
            try withText(suite ?? "") { suite in
                try withText(answers ?? "") { answers in
                    try check { evc_compare_runs(runs, runs.count, suite, answers, &told, $0) }
                }
            }
        }
        return String(taking: told)
    }
}

/// Whether a candidate is no worse than a baseline (`docs/gate.md`).
public struct Gate: Sendable {
    public enum Verdict: Int32, Sendable {
        case pass = 1
        case fail
        /// Too few items.
        case inconclusive
    }

    public let verdict: Verdict
    /// What stands in `gate-result.json`, to the byte.
    public let json: String

    /// A candidate's run and the baseline's of the same suite: stores (`run.db`), or the folders that hold them.
    public struct Pair: Sendable {
        public let candidate, baseline: String

        public init(candidate: String, baseline: String) {
            self.candidate = candidate
            self.baseline = baseline
        }
    }

    /// Gates runs, a pair for each suite, as `evalcore gate` does. Nothing is written. What is nil is at its default.
    ///
    /// - Throws: ``EvalError``: `invalidArgument` for a value out of its range and runs of different suites, `notFound`,
    ///   `busy`, `badSuite`, `storage`.
    public static func runs(
        _ pairs: [Pair], margin: Double? = nil, alpha: Double? = nil, power: Double? = nil
    ) async throws -> Gate {
        try await withoutBlocking {
            let options = try Handle(evc_gate_options_new(), freedBy: evc_gate_options_free)
            let write = OptionWriter(handle: options, refusal: evc_gate_options_refusal)
            try write.value("margin", margin, evc_gate_options_set_margin)
            try write.value("alpha", alpha, evc_gate_options_set_alpha)
            try write.value("power", power, evc_gate_options_set_power)
            var verdict: Int32 = 0
            var told: OpaquePointer?
            try withTexts(pairs.flatMap { [$0.candidate, $0.baseline] }[...]) { runs in
                try options.use { options in
                    try check { evc_gate_runs(runs, runs.count, options, &verdict, &told, $0) }
                }
            }
            return Gate(verdict, taking: told)
        }
    }

    /// Gates the bytes of files of rows by a threshold in percentage points, as `evalcore gate --compat` does. Commands
    /// of the spec are not run. What is nil is at its default.
    ///
    /// - Throws: ``EvalError``: `invalidArgument`.
    public static func rows(
        candidate: Data, baseline: Data, specJSON: String? = nil, threshold: Double? = nil, passes: Int? = nil,
        budgetJSON: String? = nil
    ) throws -> Gate {
        let options = try Handle(evc_gate_rows_options_new(), freedBy: evc_gate_rows_options_free)
        let write = OptionWriter(handle: options, refusal: evc_gate_rows_options_refusal)
        try write.json(specJSON, evc_gate_rows_options_set_spec)
        try write.value("threshold", threshold, evc_gate_rows_options_set_threshold)
        try write.count("passes", passes, evc_gate_rows_options_set_passes)
        try write.json(budgetJSON, evc_gate_rows_options_set_budget)
        var verdict: Int32 = 0
        var told: OpaquePointer?
        try withBytes(candidate) { candidate in
            try withBytes(baseline) { baseline in
                try options.use { options in
                    try check { evc_gate_rows(candidate, baseline, options, &verdict, &told, $0) }
                }
            }
        }
        return Gate(verdict, taking: told)
    }

    private init(_ verdict: Int32, taking text: OpaquePointer?) {
        self.verdict = Verdict(rawValue: verdict) ?? .inconclusive
        json = String(taking: text)
    }
}

/// Lends bytes to a C function.
private func withBytes<Value>(_ bytes: Data, _ body: (evc_str) throws -> Value) rethrows -> Value {
    try bytes.withUnsafeBytes { raw in
        try raw.withMemoryRebound(to: CChar.self) { try body(evc_str(data: $0.baseAddress, size: $0.count)) }
    }
}
