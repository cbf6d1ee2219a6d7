import EvalCore
import EvalHarnessSupport
import Foundation
import Testing

/// The code that `docs/harness.md` shows, as a driver has it.
private enum Driver {
    static func run(
        model: String, on choice: EvalHarnessSupport.BackendChoice, _ common: EvalHarnessSupport.Common,
        questions: [String], answers: [String]
    ) async throws {
        let served = try await EvalHarnessSupport.startServe(modelPath: model, on: choice)
        let pool = try Pool(served.backend) { $0.concurrency = choice.concurrency }
        let outcomes = try await EvalHarnessSupport.submit(questions.map { Request($0) }, to: pool)
        for case .failure(let error) in outcomes { print("missing: \(error)") }
        let right = zip(outcomes, answers).filter { outcome, answer in (try? outcome.get().text) == answer }.count
        EvalHarnessSupport.appendRow(
            common: common, task: "mine", subtask: nil, metric: "exact_match",
            score: Double(right) / Double(outcomes.count), n: outcomes.count, wall: 0, harness: nil)
    }
}

struct QuickStart {
    /// The model knows "hi" by heart, and never says "no".
    @Test func aDriver() async throws {
        let bench = try HarnessBench()
        let (choice, rest) = EvalHarnessSupport.takeBackend(
            ["--backend", "embedded", "--context-per-slot", "1024", "--concurrency", "2", "m", "--out", "o"],
            usage: { fatalError("usage") })
        #expect(rest == ["m", "--out", "o"])
        var common = EvalHarnessSupport.Common()
        common.modelPath = Files.canned
        common.outJsonl = bench.folder + "/rows.jsonl"
        try await Driver.run(
            model: Files.canned, on: choice, common, questions: ["hi", "hi"], answers: ["Hello!", "no"])
        #expect(bench.read("rows.jsonl").contains(#""n_examples":2,"#))
        #expect(bench.read("rows.jsonl").contains(#""score":0.5,"#))
    }

    @Test func theDocumentShowsThisCode() throws {
        let document = try String(contentsOfFile: Files.repository("docs/harness.md"), encoding: .utf8)
        let code = try String(contentsOfFile: #filePath, encoding: .utf8)
        let shown = document.components(separatedBy: "QuickStart.swift -->\n```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(shown.count == 1)
        for block in shown { #expect(code.contains(block)) }
    }
}
