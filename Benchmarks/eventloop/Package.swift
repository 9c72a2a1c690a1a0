// swift-tools-version: 6.2
import PackageDescription

// Three ways to run one thread, each an executable of its own so that size and memory can be told apart.
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

let package = Package(
    name: "eventloop",
    targets: [
        .systemLibrary(name: "CLoop"),
        .systemLibrary(name: "CSDEvent", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(name: "LoopBench", dependencies: ["CLoop"], swiftSettings: settings),
        .executableTarget(
            name: "loop-sdevent", dependencies: ["CLoop", "CSDEvent", "LoopBench"], swiftSettings: settings),
        .executableTarget(name: "loop-dispatch", dependencies: ["CLoop", "LoopBench"], swiftSettings: settings),
        .executableTarget(name: "loop-epoll", dependencies: ["CLoop", "LoopBench"], swiftSettings: settings),
    ]
)
