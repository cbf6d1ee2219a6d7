import Testing

@testable import EvalHarnessSupport

extension DriverTests {
    /// What a driver is told of the server that it is to ask.
    struct ServedTests {
        @Test(arguments: ["", "/", "/v1", "/v1/"]) func itsAPIIsFoundHoweverTheURLIsWritten(ending: String) async throws {
            let bench = try HarnessBench()
            try await bench.serve("[]")
            var choice = EvalHarnessSupport.BackendChoice()
            choice.name = .openaiURL
            choice.options.baseURL = "http://127.0.0.1:\(bench.port)\(ending)"
            let served = try await EvalHarnessSupport.startServe(modelPath: "served", on: choice)
            #expect(served.baseURL == "http://127.0.0.1:\(bench.port)/v1")
            #expect(served.model == "served")
        }
    }
}
