import EvalHarnessSupport
import Foundation

/// Items without an answer, because a request failed. They count as wrong, so that a failure never flatters a score, and the
/// driver ends with 4, as `evalcore run` does.
struct Missing {
    private(set) var items = 0

    /// Tells what a row's score would be between, if some of its items are missing.
    mutating func tell(_ name: String, missing: Int, correct: Double, of total: Int) {
        if missing == 0 { return }
        items += missing
        let low = correct / Double(total)
        let high = (correct + Double(missing)) / Double(total)
        EvalHarnessSupport.complain(
            "\(name): \(missing) of \(total) items failed and count as wrong; the score is between "
                + String(format: "%.3f and %.3f", low, high))
    }

    func exitIfAny() {
        if items > 0 { exit(4) }
    }
}
