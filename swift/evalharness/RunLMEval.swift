import EvalHarnessSupport
import Foundation

/// `run-lm-eval`: EleutherAI's lm_eval, on a served model or on one that it loads itself; a row for each metric.
enum RunLMEval {
    struct Options {
        var hfModel: String?
        /// With posttrainllm.
        var servedModel: String?
        /// With another backend.
        var model: String?
        var servePort = 8089
        var tokenizer: String?
        var tasks = "arc_easy"
        var limit = 0
        var batch: Int?
        var out: String?
        var modelName: String?
        var modelStep: Int?
        var baseline = false
        var program = "lm_eval"
        var workFolder = "/tmp/posttrainllm-lm-eval"
        var dtype = "float32"
        var device = "mps"
    }

    static func run(_ arguments: [String]) async throws {
        let (choice, others) = EvalHarnessSupport.takeBackend(arguments, usage: exitUsage)
        let options = parse(others)
        if choice.name != .posttrainllm { return try await LMEvalOnServer.run(options, on: choice) }
        if options.model != nil {
            EvalHarnessSupport.refuse(
                "--model is for other backends: name a --backend, or --posttrainllm-model", usage: exitUsage)
        }
        if options.hfModel == nil && options.servedModel == nil {
            EvalHarnessSupport.refuse(
                "either --hf-model <dir> or --posttrainllm-model <path.tinygpt> is required", usage: exitUsage)
        }
        if options.hfModel != nil && options.servedModel != nil {
            EvalHarnessSupport.refuse("--hf-model and --posttrainllm-model are mutually exclusive", usage: exitUsage)
        }
        guard let out = options.out else { EvalHarnessSupport.refuse("--out <path.jsonl> required", usage: exitUsage) }
        let rows = options.servedModel.map { evaluateServed($0, options, out) } ?? evaluateLoaded(options, out)
        print("✓ wrote \(rows) rows to \(out)")
    }

    private static func evaluateLoaded(_ options: Options, _ out: String) -> Int {
        let model = options.hfModel ?? ""
        guard let program = executable(options.program) else {
            fail(
                "'\(options.program)' not found. Install it with `pip install lm-eval`, and have it on PATH or name it "
                    + "with --lm-eval /full/path/to/lm_eval", 1)
        }
        let work = workFolder(options)
        let wall = evaluate(
            program, options, model: "hf", modelArguments: "pretrained=\(model),dtype=\(options.dtype)", work: work,
            more: ["--device", options.device])
        let name = options.modelName ?? URL(fileURLWithPath: model).lastPathComponent
        return appendRows(options, out: out, work: work, modelPath: model, modelName: name, wall: wall)
    }

    private static func evaluateServed(_ model: String, _ options: Options, _ out: String) -> Int {
        guard let server = EvalHarnessSupport.servePrograms.lazy.compactMap({ executable($0) }).first else {
            fail("posttrainllm CLI not found for serve. Build with `swift build -c release`.", 1)
        }
        guard let program = executable(options.program) else {
            fail("lm_eval not found. `pip install lm-eval` then ensure it's on PATH.", 1)
        }
        guard let tokenizer = options.tokenizer ?? TokenizerSource.read(from: model) else {
            fail("could not infer tokenizer path. Pass --tokenizer <HF model id or dir>.", 1)
        }
        let work = workFolder(options)
        let served = EvalHarnessSupport.startServe(
            modelPath: model, port: options.servePort, maxContext: nil, programs: [server.path])
        defer { served.terminate() }
        let wall = evaluate(
            program, options, model: "local-completions",
            modelArguments: "base_url=http://127.0.0.1:\(options.servePort)/v1/completions,model=posttrainllm,"
                + "tokenizer_backend=huggingface,tokenizer=\(tokenizer)",
            work: work)
        let name = options.modelName ?? URL(fileURLWithPath: model).deletingPathExtension().lastPathComponent
        return appendRows(options, out: out, work: work, modelPath: model, modelName: name, wall: wall)
    }

    static func workFolder(_ options: Options) -> String {
        let folder = "\(options.workFolder)/\(UUID().uuidString.prefix(8))"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Runs lm_eval and gives the seconds that it took. Ends the process with its status where it fails.
    static func evaluate(
        _ program: URL, _ options: Options, model: String, modelArguments: String, work: String, more: [String] = [],
        environment: [String: String] = [:]
    ) -> Double {
        var arguments = [
            "--model", model, "--model_args", modelArguments, "--tasks", options.tasks, "--batch_size",
            "\(options.batch ?? 4)", "--output_path", work,
        ]
        arguments += more
        if options.limit > 0 { arguments += ["--limit", "\(options.limit)"] }
        let start = Date()
        do {
            let status = try EvalHarnessSupport.launch(program, arguments, env: environment)
            if status != 0 { fail("lm_eval exited with code \(status)", status) }
        } catch {
            fail("couldn't launch lm_eval: \(error)", 1)
        }
        return -start.timeIntervalSinceNow
    }

    /// Appends a row for each metric of the results file. Ends the process with 1 where there is none.
    static func appendRows(
        _ options: Options, out: String, work: String, modelPath: String, modelName: String, wall: Double
    ) -> Int {
        let isResult = { (file: URL) in
            file.pathExtension == "json" && file.lastPathComponent.hasPrefix("results_")
        }
        guard let file = EvalHarnessSupport.latestFile(under: URL(fileURLWithPath: work), where: isResult) else {
            fail("could not find results JSON under \(work)", 1)
        }
        let results = LMEvalResults(EvalHarnessSupport.jsonObject(file))
        let runID = UUID().uuidString
        for metric in results.metrics {
            var row = EvalCompare.Row(
                modelPath: modelPath, modelName: modelName, task: metric.task, metric: metric.name,
                score: metric.score, nExamples: metric.samples, wallSeconds: wall)
            row.runID = runID
            row.modelStep = options.modelStep
            row.baseline = options.baseline
            row.harnessVersion = results.version
            do { try EvalCompare.Row.append(row, to: URL(fileURLWithPath: out)) } catch {
                fail("could not append eval row: \(error)", 1)
            }
        }
        return results.metrics.count
    }

    /// Where a program is: as a path, on PATH, or where package managers put it.
    static func executable(_ name: String) -> URL? {
        if let found = EvalHarnessSupport.resolveExecutable(name) { return found }
        if name.contains("/") { return nil }
        let home = FileManager.default.homeDirectoryForCurrentUser.path
        return ["\(home)/.local/share/mise/installs/python/3.12.13/bin", "/usr/local/bin", "/opt/homebrew/bin"]
            .lazy.compactMap { EvalHarnessSupport.resolveExecutable("\($0)/\(name)") }.first
    }
}
