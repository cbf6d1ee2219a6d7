import EvalHarnessSupport
import Foundation

/// The metrics in a results file of lm_eval, by task and name.
struct LMEvalResults {
    struct Metric {
        let task: String
        let name: String
        let score: Double
        let samples: Int
    }

    let version: String?
    let metrics: [Metric]

    init(_ json: Any?) {
        let root = json as? [String: Any] ?? [:]
        let results = root["results"] as? [String: [String: Any]] ?? [:]
        let counts = root["n-samples"] as? [String: [String: Any]] ?? [:]
        version = root["lm_eval_version"] as? String
        metrics = results.sorted { $0.key < $1.key }.flatMap { task, values -> [Metric] in
            let count = counts[task]
            let samples = count?["effective"] as? Int ?? count?["original"] as? Int ?? values["sample_len"] as? Int
            return values.sorted { $0.key < $1.key }.compactMap { key, value -> Metric? in
                guard key.contains(","), !key.contains("stderr"), !key.contains("alias"), let score = value as? Double
                else { return nil }
                let name = String(key.split(separator: ",")[0])
                return Metric(task: task, name: name, score: score, samples: samples ?? 0)
            }
        }
    }
}

/// The tokenizer that a `.tinygpt` file names in its header.
enum TokenizerSource {
    static func read(from path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        let head = String(decoding: (try? file.read(upToCount: 65_536)) ?? Data(), as: UTF8.self)
        for name in ["tokenizerSource", "tokenizer_source"] {
            if let start = head.range(of: "\"\(name)\":\"")?.upperBound {
                let rest = head[start...]
                if let end = rest.firstIndex(of: "\"") { return String(rest[..<end]) }
            }
        }
        return nil
    }
}
