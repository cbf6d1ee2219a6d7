import EvalHarnessSupport
import Foundation

extension RunLMEval {
    static func parse(_ arguments: [String]) -> Options {
        var options = Options()
        var reader = ArgumentReader(arguments)
        while let argument = reader.next() {
            func text() -> String { reader.value(of: argument, usage: exitUsage) }
            switch argument {
            case "--hf-model": options.hfModel = text()
            case "--posttrainllm-model": options.servedModel = text()
            case "--model": options.model = text()
            case "--serve-port": options.servePort = Int(text()) ?? options.servePort
            case "--tokenizer": options.tokenizer = text()
            case "--tasks": options.tasks = text()
            case "--limit": options.limit = Int(text()) ?? options.limit
            case "--batch": options.batch = Int(text()) ?? options.batch
            case "--out": options.out = text()
            case "--model-name": options.modelName = text()
            case "--model-step": options.modelStep = Int(text())
            case "--baseline": options.baseline = true
            case "--lm-eval": options.program = text()
            case "--work-dir": options.workFolder = text()
            case "--dtype": options.dtype = text()
            case "--device": options.device = text()
            case "-h", "--help":
                print(usageText)
                exit(0)
            default: EvalHarnessSupport.refuse("unknown flag: \(argument)", usage: exitUsage)
            }
        }
        return options
    }

    static func exitUsage() -> Never {
        print(usageText)
        exit(2)
    }

    private static let usageText = """
        usage: evalharness run-lm-eval --hf-model <dir> | --posttrainllm-model <path> | --backend NAME --model <model>
                                       --out <jsonl> [options]

        --hf-model <dir>            a model that lm_eval loads itself
        --posttrainllm-model <path> a model that posttrainllm serves
        --model <model>             a model that another backend serves
        --tokenizer <dir>           of a served model (default: what a .tinygpt file names)
        --tasks <csv>               lm_eval's task names (default: arc_easy)
        --limit N                   items of each task (default: all)
        --batch N                   batch size (default: 4; 1 with --backend)
        --device mps|cpu|cuda       for --hf-model (default: mps)
        --dtype NAME                for --hf-model (default: float32)
        --model-name NAME           name in the rows
        --model-step N              step of training in the rows
        --baseline                  the rows are those of the baseline
        --serve-port N              port of a server that is started (default: 8089)
        --lm-eval <path>            the program (default: lm_eval)
        --work-dir <path>           for its results (default: /tmp/posttrainllm-lm-eval)
        \(EvalHarnessSupport.backendHelp)
        """
}
