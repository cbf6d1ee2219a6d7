import EvalHarnessSupport
import Foundation

/// What BFCL writes: a file of JSON lines for each category, results of generation and scores.
enum BFCLFiles {
    struct Score: Equatable {
        let category: String
        let correct: Int
        let total: Int
    }

    /// The scores under a folder, in the order of their categories. The first line of a file has them; the others are the
    /// items that are wrong.
    static func scores(under folder: String) -> [Score] {
        files(under: folder, kind: "score").compactMap { category, file in
            guard let first = lines(of: file).first, let head = object(first),
                let correct = head["correct_count"] as? Int,
                let total = head["total_count"] as? Int
            else { return nil }
            return Score(category: category, correct: correct, total: total)
        }
    }

    /// Takes the items whose request failed out of the results, where BFCL puts the error in the place of an answer,
    /// and counts them by category. BFCL generates again what is not there.
    static func removeFailures(under folder: String) throws -> [String: Int] {
        var failures: [String: Int] = [:]
        for (category, file) in files(under: folder, kind: "result") {
            let all = lines(of: file)
            let answers = all.filter { !isFailure($0) }
            if answers.count == all.count { continue }
            failures[category] = all.count - answers.count
            let text = answers.map { $0 + "\n" }.joined()
            if text.isEmpty {
                try FileManager.default.removeItem(at: file)
            } else {
                try Data(text.utf8).write(to: file, options: .atomic)
            }
        }
        return failures
    }

    private static func isFailure(_ line: Substring) -> Bool {
        guard let result = object(line) else { return true }
        return result["traceback"] != nil
            && (result["result"] as? String)?.hasPrefix("Error during inference:") == true
    }

    /// Files named such as `BFCL_v4_live_simple_score.json`, by category.
    private static func files(under folder: String, kind: String) -> [(category: String, file: URL)] {
        EvalHarnessSupport.files(under: URL(fileURLWithPath: folder)).compactMap { file in
            guard let match = file.lastPathComponent.wholeMatch(of: /BFCL_v[0-9]+_(.+)_([a-z]+)\.json/),
                match.2 == kind
            else { return nil }
            return (String(match.1), file)
        }.sorted { $0.category < $1.category }
    }

    private static func lines(of file: URL) -> [Substring] {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n")
    }

    private static func object(_ line: Substring) -> [String: Any]? {
        try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
}
