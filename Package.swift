// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "evalcore",
    platforms: [.macOS(.v15)],
    products: [.library(name: "EvalCore", targets: ["EvalCore"])],
    targets: [
        .systemLibrary(name: "CEvalCore", path: "swift/CEvalCore", pkgConfig: "evalcore"),
        .target(name: "EvalCore", dependencies: ["CEvalCore"], path: "swift/EvalCore"),
        .testTarget(name: "EvalCoreTests", dependencies: ["EvalCore"], path: "swift/Tests"),
    ],
    swiftLanguageModes: [.v6]
)
