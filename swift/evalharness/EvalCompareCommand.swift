import EvalHarnessSupport
import Foundation

/// `eval-compare`: a table of the rows of files, a line for each task and a column for each model.
enum EvalCompareCommand {
    private struct Row: Decodable {
        struct Passes: Decodable {
            let ci95Low, ci95High: Double
            let n: Int
        }
        let task, modelName: String
        let modelStep: Int?
        let score: Double
        let nExamples: Int?
        let passStats: Passes?

        enum CodingKeys: String, CodingKey {
            case task, score
            case modelName = "model_name"
            case modelStep = "model_step"
            case nExamples = "n_examples"
            case passStats = "pass_stats"
        }
    }

    static func run(_ arguments: [String]) {
        var files: [String] = []
        var by = "model"
        var reader = ArgumentReader(arguments)
        while let argument = reader.next() {
            switch argument {
            case "--by": by = reader.value(of: argument, usage: exitUsage)
            case "--sort": _ = reader.value(of: argument, usage: exitUsage)
            case "-h", "--help": exitUsage()
            case _ where argument.hasPrefix("-"):
                EvalHarnessSupport.refuse("unknown flag: \(argument)", usage: exitUsage)
            default: files.append(argument)
            }
        }
        guard ["model", "step", "task"].contains(by) else {
            EvalHarnessSupport.refuse("--by is none of model, step, task: \(by)", usage: exitUsage)
        }
        if files.isEmpty { EvalHarnessSupport.refuse("name files of rows", usage: exitUsage) }
        printTable(files.flatMap { rows(in: $0) }, by: by)
    }

    /// Lines that are no rows are left out.
    private static func rows(in path: String) -> [Row] {
        guard let bytes = FileManager.default.contents(atPath: path) else { fail("cannot read \(path)", 2) }
        return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSONDecoder().decode(Row.self, from: $0) }
    }

    private static func printTable(_ rows: [Row], by: String) {
        var cells: [String: [String: [Row]]] = [:]
        for row in rows {
            let step = by == "step" ? row.modelStep.map { "@\($0)" } ?? "" : ""
            let model = row.modelName + step
            let place = by == "task" ? (model, row.task) : (row.task, model)
            cells[place.0, default: [:]][place.1, default: []].append(row)
        }
        let columns = Set(cells.values.flatMap(\.keys)).sorted()
        print(([by == "task" ? "model" : "task"] + columns).joined(separator: "\t"))
        for (name, line) in cells.sorted(by: { $0.key < $1.key }) {
            print(([name] + columns.map { line[$0].map(cell) ?? "-" }).joined(separator: "\t"))
        }
    }

    /// `mean±half (n=…,k=…)`: of one row with its passes, or of several rows, whatever their metrics.
    private static func cell(_ rows: [Row]) -> String {
        let mean = rows.map(\.score).reduce(0, +) / Double(rows.count)
        var text = String(format: "%.3f", mean)
        let passes = rows.count == 1 ? rows[0].passStats : nil
        if let passes {
            text += String(format: "±%.3f", max(abs(passes.ci95High - mean), abs(mean - passes.ci95Low)))
        }
        let trials = passes?.n ?? rows.count
        let counts = [rows[0].nExamples.map { "n=\($0)" }, trials > 1 ? "k=\(trials)" : nil].compactMap { $0 }
        return counts.isEmpty ? text : text + "  (" + counts.joined(separator: ",") + ")"
    }

    private static func exitUsage() -> Never {
        print(
            """
            usage: evalharness eval-compare <rows.jsonl>... [options]

            --by model|step|task    columns: models, models with their step, or tasks (default: model)
            --sort NAME             ignored
            """)
        exit(2)
    }
}
