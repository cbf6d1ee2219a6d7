import Foundation

/// Results as tools compare them.
public enum EvalCompare {
    /// One metric of one task, a line of JSON.
    public struct Row: Codable, Sendable, Hashable {
        public var runID = UUID().uuidString
        public var modelPath: String
        public var modelName: String
        /// The step of training; nil: not told.
        public var modelStep: Int?
        public var baseline = false
        public var task: String
        public var subtask: String?
        public var metric: String
        public var score: Double
        /// Items, missing ones included.
        public var nExamples: Int
        public var wallSeconds: Double
        /// ISO 8601 in UTC, whole seconds.
        public var timestamp = ISO8601DateFormatter().string(from: Date())
        public var harnessVersion: String?
        public var evalProtocol: EvalGate.AgentEvalProtocol?

        /// A row with a run id of its own, of now.
        public init(
            modelPath: String, modelName: String, task: String, metric: String, score: Double, nExamples: Int,
            wallSeconds: Double
        ) {
            self.modelPath = modelPath
            self.modelName = modelName
            self.task = task
            self.metric = metric
            self.score = score
            self.nExamples = nExamples
            self.wallSeconds = wallSeconds
        }

        enum CodingKeys: String, CodingKey {
            case runID = "run_id"
            case modelPath = "model_path"
            case modelName = "model_name"
            case modelStep = "model_step"
            case baseline, task, subtask, metric, score
            case nExamples = "n_examples"
            case wallSeconds = "wall_seconds"
            case timestamp
            case harnessVersion = "harness_version"
            case evalProtocol = "protocol"
        }

        /// Appends it to a file, which is made where there is none. One writer at a time.
        public static func append(_ row: Row, to file: URL) throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            let line = try encoder.encode(row) + Data("\n".utf8)
            guard FileManager.default.fileExists(atPath: file.path) else {
                return try line.write(to: file, options: .atomic)
            }
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            try handle.seekToEnd()
            try handle.write(contentsOf: line)
        }
    }
}

extension EvalHarnessSupport {
    /// Appends a row with a run id of its own to `--out`. A failure is only told on standard error.
    ///
    /// - Parameters:
    ///   - n: Items, missing ones included.
    ///   - wall: Seconds that the harness took.
    ///   - harness: Its name, or its version.
    public static func appendRow(
        common: Common, task: String, subtask: String?, metric: String, score: Double, n: Int, wall: Double,
        harness: String?
    ) {
        guard let out = common.outJsonl, let model = common.modelPath else { return }
        var row = EvalCompare.Row(
            modelPath: model, modelName: displayName(common), task: task, metric: metric, score: score, nExamples: n,
            wallSeconds: wall)
        row.modelStep = common.modelStep
        row.baseline = common.baseline
        row.subtask = subtask
        row.harnessVersion = harness
        row.evalProtocol = protocolBlock(common)
        do { try EvalCompare.Row.append(row, to: URL(fileURLWithPath: out)) } catch {
            complain("could not append eval row: \(error)")
        }
    }
}
