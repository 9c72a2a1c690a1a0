import Base
import Glibc
import Shell
import System

/// The command-line program.
package enum CommandLineProgram {
    /// Runs the given command and ends the process with its exit code.
    package static func run() -> Never {
        // A peer that closes its socket must not end the program: the write fails with EPIPE instead. For standard
        // output, `Terminal` turns EPIPE back into the signal.
        signal(SIGPIPE, SIG_IGN)
        Terminal.occupyStandardDescriptors()
        let words = Array(Swift.CommandLine.arguments.dropFirst())
        do {
            try needUTF8()
            let code = try run(words)
            Terminal.closeOutput()
            exit(code.rawValue)
        } catch let failure as Failure {
            Terminal.printError("ibeacon-gateway: \(failure.message)")
            exit(failure.code.rawValue)
        } catch {
            Terminal.printError("ibeacon-gateway: \(error)")
            exit(ExitCode.software.rawValue)
        }
    }

    /// A name that is not UTF-8 would become another one without a word.
    private static func needUTF8() throws(Failure) {
        for index in 1..<max(1, Int(Swift.CommandLine.argc)) {
            guard let word = Swift.CommandLine.unsafeArgv[index], String(validatingCString: word) == nil else {
                continue
            }
            throw Failure(
                .usage,
                "the word '\(String(cString: word))' is not UTF-8; set the characters of the terminal to UTF-8")
        }
    }

    private static func run(_ words: [String]) throws -> ExitCode {
        let (global, rest) = try ArgumentReader.readGlobal(words)
        if global.has("version") {
            Terminal.print("ibeacon-gateway \(Program.version)")
            return .ok
        }
        guard let name = rest.first else {
            guard global.has("help") else {
                throw Failure(.usage, "no command; 'ibeacon-gateway --help' lists the commands")
            }
            Terminal.print(HelpText.overview(Subcommand.all.map(\.specification)))
            return .ok
        }
        guard let command = Subcommand.all.first(where: { $0.specification.name == name }) else {
            let known = Subcommand.all.map(\.specification.name)
            let hint =
                suggestion(for: name, among: known).map { "did you mean '\($0)'?" }
                ?? "the commands are: \(known.joined(separator: ", "))"
            throw Failure(.usage, "unknown command '\(name)'; \(hint)")
        }
        if global.has("help") {
            Terminal.print(HelpText.page(command.specification, operands: Array(rest.dropFirst())))
            return .ok
        }
        let arguments = try ArgumentReader.read(Array(rest.dropFirst()), for: command.specification, after: global)
        if arguments.has("help") {
            Terminal.print(HelpText.page(command.specification, operands: arguments.operands))
            return .ok
        }
        if arguments.has("version") {
            Terminal.print("ibeacon-gateway \(Program.version)")
            return .ok
        }
        return try command.run(arguments)
    }
}
