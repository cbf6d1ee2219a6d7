import Foundation

/// The types of the gate that rows carry.
public enum EvalGate {
    /// Under which bounds an agent was evaluated. Kept as it was given; nothing here enforces it.
    public struct AgentEvalBudget: Codable, Sendable, Hashable {
        public var maxSteps: Int?
        public var sandboxCpus: Double?
        public var sandboxRamMb: Int?
        public var temperature: Double?
        public var topP: Double?
        public var samplingSeed: Int?
        public var infraPatches: [String] = []

        public init() {}

        enum CodingKeys: String, CodingKey {
            case maxSteps = "max_steps"
            case sandboxCpus = "sandbox_cpus"
            case sandboxRamMb = "sandbox_ram_mb"
            case temperature
            case topP = "top_p"
            case samplingSeed = "sampling_seed"
            case infraPatches = "infra_patches"
        }
    }

    /// How an evaluation was done: how often, and within which budget.
    public struct AgentEvalProtocol: Codable, Sendable, Hashable {
        /// At least 1.
        public let passes: Int
        public let budget: AgentEvalBudget?

        public init(passes: Int = 1, budget: AgentEvalBudget? = nil) {
            self.passes = max(1, passes)
            self.budget = budget
        }
    }
}

extension EvalHarnessSupport {
    /// Reads a budget. Ends the process with 2 where it cannot.
    public static func loadBudget(path: String) -> EvalGate.AgentEvalBudget {
        do {
            return try JSONDecoder().decode(
                EvalGate.AgentEvalBudget.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            complain("could not parse eval budget at \(path): \(error)")
            exit(2)
        }
    }

    /// What rows say under `protocol`; nil unless there is a budget, from `--budget` or `TINYGPT_EVAL_BUDGET`.
    public static func protocolBlock(_ common: Common) -> EvalGate.AgentEvalProtocol? {
        let environment = ProcessInfo.processInfo.environment
        guard
            let budget = common.evalBudget
                ?? (common.budgetPath ?? environment["TINYGPT_EVAL_BUDGET"]).map({ loadBudget(path: $0) })
        else { return nil }
        return EvalGate.AgentEvalProtocol(passes: common.evalPasses, budget: budget)
    }
}
