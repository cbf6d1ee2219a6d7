import EvalCore
import EvalHarnessSupport
import Foundation

let usageText = """
    usage: evalharness COMMAND ARGUMENTS

      eval-bfcl       the Berkeley Function Calling Leaderboard
      eval-tau-bench  tau-bench
      run-lm-eval     EleutherAI's lm-evaluation-harness
      eval-gate       is a candidate no worse than a baseline?
      eval-compare    rows of several models beside each other

    `evalharness COMMAND --help` has the options of each.
    """

Interruption.endsTheDriver()
var arguments = Array(CommandLine.arguments.dropFirst())
let command = arguments.isEmpty ? "" : arguments.removeFirst()
do {
    switch command {
    case "eval-bfcl": try await EvalBFCL.run(arguments)
    case "eval-tau-bench": try await EvalTauBench.run(arguments)
    case "run-lm-eval": try await RunLMEval.run(arguments)
    case "eval-gate": try EvalGateCommand.run(arguments)
    case "eval-compare": EvalCompareCommand.run(arguments)
    case "-h", "--help": print(usageText)
    case "":
        EvalHarnessSupport.complain(usageText)
        exit(2)
    case let other:
        EvalHarnessSupport.complain("unknown command: \(other)\n\(usageText)")
        exit(2)
    }
} catch let error as EvalError {
    fail(error.message, exitStatus(of: error))
} catch {
    fail("\(error)", 1)
}
