// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "evalcore",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "EvalCore", targets: ["EvalCore"]),
        .library(name: "EvalHarnessSupport", targets: ["EvalHarnessSupport"]),
        .executable(name: "evalharness", targets: ["evalharness"]),
    ],
    targets: [
        .systemLibrary(name: "CEvalCore", path: "swift/CEvalCore", pkgConfig: "evalcore"),
        .target(name: "EvalCore", dependencies: ["CEvalCore"], path: "swift/EvalCore"),
        .target(name: "EvalHarnessSupport", dependencies: ["EvalCore"], path: "swift/EvalHarnessSupport"),
        .executableTarget(name: "evalharness", dependencies: ["EvalHarnessSupport"], path: "swift/evalharness"),
        .testTarget(name: "EvalCoreTests", dependencies: ["EvalCore"], path: "swift/Tests"),
        .testTarget(
            name: "EvalHarnessTests", dependencies: ["EvalHarnessSupport", "evalharness"], path: "swift/HarnessTests"),
    ],
    swiftLanguageModes: [.v6]
)
