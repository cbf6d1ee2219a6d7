import EvalCore
import Foundation
import Testing

/// What a gate on files of rows does, by the library that all hosts have.
struct EvalGateTests {
    struct Result: Decodable {
        struct Stats: Decodable {
            let n: Int
            let mean, stdev: Double
            let trialScores: [Double]
        }
        struct Metric: Decodable {
            let name, task, direction, verdict: String
            let deltaPP: Double?
            let thresholdPP: Double
            let candidateScore: Double
            let candidateStats: Stats?
        }
        let failedCount, missingCount: Int
        let passed: Bool
        let suites: [Metric]
    }

    private func row(_ score: Double, task: String = "t", metric: String = "accuracy") -> String {
        #"{"task":"\#(task)","metric":"\#(metric)","score":\#(score)}"# + "\n"
    }

    private func gate(
        _ candidate: String, _ baseline: String, suites: String = "[]", passes: Int = 1, budget: String? = nil
    ) throws -> Result {
        let gated = try Gate.rows(
            candidate: Data(candidate.utf8), baseline: Data(baseline.utf8),
            specJSON: #"{"baseline":"b","suites":\#(suites)}"#, passes: passes, budgetJSON: budget)
        let result = try JSONDecoder().decode(Result.self, from: Data(gated.json.utf8))
        #expect((gated.verdict == .pass) == result.passed)
        return result
    }

    @Test func theDirectionIsToldByTheName() throws {
        for (metric, direction) in [
            ("val_loss", "lowerIsBetter"), ("Perplexity", "lowerIsBetter"), ("answer_match", "lowerIsBetter"),
            ("accuracy", "higherIsBetter"), ("tokens_per_second", "higherIsBetter"),
        ] {
            let metrics = try gate(row(1, metric: metric), row(1, metric: metric)).suites
            #expect(metrics.map(\.direction) == [direction])
        }
    }

    @Test func anEqualScorePasses() throws {
        #expect(try gate(row(0.8), row(0.8)).suites.map(\.deltaPP) == [0])
    }

    @Test func aLossBelowTheThresholdPasses() throws { #expect(try gate(row(0.785), row(0.8)).passed) }

    @Test func aLossBeyondTheThresholdFails() throws {
        let result = try gate(row(0.77), row(0.8))
        #expect(!result.passed && result.failedCount == 1)
        #expect(result.suites.map(\.verdict) == ["fail"])
    }

    @Test func anImprovementPasses() throws { #expect(try gate(row(0.9), row(0.8)).passed) }

    @Test func aSuiteHasAThresholdOfItsOwn() throws {
        let result = try gate(row(0.76), row(0.8), suites: #"[{"name":"t","threshold":5.0}]"#)
        #expect(result.passed && result.suites.map(\.thresholdPP) == [5])
    }

    @Test func moreOfWhatIsBetterWhenLowerFails() throws {
        #expect(try !gate(row(5.5, metric: "ppl"), row(5, metric: "ppl")).passed)
        #expect(try gate(row(4.5, metric: "ppl"), row(5, metric: "ppl")).passed)
    }

    @Test func whatTheBaselineLacksIsMissingAndFailsNothing() throws {
        let result = try gate(row(0.1, task: "new"), row(0.8))
        #expect(result.passed && result.missingCount == 1)
        #expect(result.suites.map(\.verdict) == ["missing"])
    }

    @Test func onlyDeclaredSuitesAreGated() throws {
        let result = try gate(
            row(0.8, task: "a") + row(0.1, task: "b"), row(0.8, task: "a") + row(0.8, task: "b"),
            suites: #"[{"name":"s","task":"a"}]"#)
        #expect(result.passed && result.suites.map(\.name) == ["s"])
    }

    @Test func withoutSuitesAllRowsAreGated() throws {
        let result = try gate(
            row(0.1, task: "b") + row(0.8, task: "a"), row(0.8, task: "a") + row(0.8, task: "b"))
        #expect(result.suites.map(\.verdict) == ["pass", "fail"])
    }

    @Test func passesAreAveraged() throws {
        let metric = try #require(try gate(row(0.7) + row(0.8) + row(0.9), row(0.8), passes: 3).suites.first)
        #expect(abs(metric.candidateScore - 0.8) < 1e-12)
        #expect(abs((metric.candidateStats?.stdev ?? 0) - 0.1) < 1e-12)
    }

    @Test func repeatedRowsHaveTheirStatistics() throws {
        #expect(try gate(row(0.7) + row(0.9), row(0.8)).suites.first?.candidateStats?.trialScores == [0.7, 0.9])
        #expect(try gate(row(0.7), row(0.7)).suites.first?.candidateStats == nil)
    }

    @Test func theBudgetAndThePassesStandInTheResult() throws {
        let gated = try Gate.rows(
            candidate: Data(), baseline: Data(), passes: 3,
            budgetJSON: #"{"max_steps":8,"infra_patches":[],"temperature":0}"#)
        #expect(
            gated.json == """
                {
                  "failedCount" : 0,
                  "missingCount" : 0,
                  "passed" : true,
                  "protocol" : {
                    "budget" : {
                      "infra_patches" : [

                      ],
                      "max_steps" : 8,
                      "temperature" : 0
                    },
                    "passes" : 3
                  },
                  "suites" : [

                  ]
                }
                """)
    }

    @Test func linesThatAreNoRowsAreSkipped() throws {
        #expect(try gate("\nnot JSON\n[1]\n{\"task\":\"t\"}\n" + row(0.8), row(0.8)).suites.count == 1)
        let bytes = Data([0xFF, 0x0A]) + Data(row(0.8).utf8)
        #expect(try Gate.rows(candidate: bytes, baseline: bytes).json.contains(#""verdict" : "pass""#))
    }

    @Test func anOptionOutOfItsRangeIsNamed() {
        let error = #expect(throws: EvalError.self) {
            try Gate.rows(candidate: Data(), baseline: Data(), threshold: -1)
        }
        #expect(error?.message.contains("threshold must be 0 to 1000000000") == true)
    }
}

extension DriverTests {
    struct EvalCompareCommandTests {
        @Test func aCellIsTheMeanWithItsIntervalAndCounts() async throws {
            let bench = try HarnessBench()
            try bench.write(
                """
                {"task":"t","model_name":"a","model_step":5,"score":0.5,"n_examples":10}
                {"task":"t","model_name":"a","model_step":9,"score":0.75,"n_examples":10}
                no row
                {"task":"u","model_name":"b","model_step":null,"score":0.8,"n_examples":4,"pass_stats":{"ci95High":0.9,\
                "ci95Low":0.6,"mean":0.8,"n":3,"stderr":0,"stdev":0,"trialScores":[]}}

                """, to: "all.jsonl")
            #expect(
                try await bench.run(["eval-compare", "all.jsonl", "--sort", "x"]).output
                    == "task\ta\tb\nt\t0.625  (n=10,k=2)\t-\nu\t-\t0.800±0.200  (n=4,k=3)\n")
            #expect(
                try await bench.run(["eval-compare", "all.jsonl", "--by", "step"]).output
                    == "task\ta@5\ta@9\tb\nt\t0.500  (n=10)\t0.750  (n=10)\t-\nu\t-\t-\t0.800±0.200  (n=4,k=3)\n")
            #expect(
                try await bench.run(["eval-compare", "all.jsonl", "--by", "task"]).output
                    .hasPrefix("model\tt\tu\na\t"))
            #expect(try await bench.run(["eval-compare", "absent.jsonl"]).status == 2)
            #expect(try await bench.run(["eval-compare", "all.jsonl", "--by", "chance"]).status == 2)
        }
    }

    struct EvalGateCommandTests {
        private let bench: HarnessBench

        init() throws {
            bench = try HarnessBench()
            try bench.write(#"{"task":"t","metric":"accuracy","score":0.8}"# + "\n", to: "base.jsonl")
            try bench.write(#"{"task":"t","metric":"accuracy","score":0.5}"# + "\n", to: "worse.jsonl")
        }

        @Test func aProjectsBlockIsASpec() async throws {
            try bench.write(
                #"{"name":"p","eval":{"baseline":"base.jsonl","suites":[]}}"#, to: "posttrainllm.project.json")
            #expect(try await bench.run(["eval-gate", "--candidate", "base.jsonl"]).status == 0)
            #expect(bench.read("gate-result.json").contains(#""passed" : true"#))
            #expect(try await bench.run(["eval-gate", "--candidate", "worse.jsonl"]).status == 1)
            #expect(bench.read("gate-result.json").contains(#""failedCount" : 1"#))
        }

        @Test func theBaselineIsStampedAnewToTheByte() async throws {
            try bench.write(#"{"baseline":"base.jsonl","suites":[]}"#, to: "eval-gate.json")
            #expect(try await bench.run(["eval-gate", "--candidate", "worse.jsonl", "--update-baseline"]).status == 0)
            #expect(bench.read("base.jsonl") == bench.read("worse.jsonl"))
        }

        @Test func commandsGiveTheRowsAndTheirFailureIsTheGates() async throws {
            let emit = #"cat base.jsonl >> $0; test $TINYGPT_EVAL_PASSES = 3"#
            try bench.write(
                #"{"baseline":"base.jsonl","suites":[{"name":"t","command":["sh","-c","\#(emit)","${TINYGPT_EVAL_OUT}"]}]}"#,
                to: "eval-gate.json")
            #expect(try await bench.run(["eval-gate", "--passes", "3"]).status == 0)
            #expect(bench.read("gate-result.json").contains(#""n" : 3"#))
            try bench.write(
                #"{"baseline":"base.jsonl","suites":[{"name":"t","command":["sh","-c","exit 7"]}]}"#,
                to: "eval-gate.json")
            #expect(try await bench.run(["eval-gate"]).status == 7)
        }

        @Test func whatCannotBeReadIsAUsageError() async throws {
            #expect(try await bench.run(["eval-gate", "--candidate", "base.jsonl"]).status == 2)
            try bench.write("{", to: "eval-gate.json")
            #expect(try await bench.run(["eval-gate", "--candidate", "base.jsonl"]).status == 2)
            try bench.write(#"{"baseline":"base.jsonl","suites":[]}"#, to: "eval-gate.json")
            #expect(try await bench.run(["eval-gate", "--candidate", "absent.jsonl"]).status == 2)
            #expect(try await bench.run(["eval-gate", "--chance"]).status == 2)
        }
    }
}
