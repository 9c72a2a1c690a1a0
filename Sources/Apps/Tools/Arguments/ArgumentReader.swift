import Base
import CGetopt
import Synchronization
import System

/// Reads command lines with the C library's getopt_long.
enum ArgumentReader {
    /// Reads global options up to the command's name.
    ///
    /// - Returns: The options, and the words from the command's name on.
    static func readGlobal(_ words: [String]) throws(Failure) -> (Arguments, rest: [String]) {
        let (arguments, rest) = try read(
            words, options: CommandSpecification.globalOptions, stopsAtOperand: true, of: nil)
        return (arguments, rest)
    }

    /// Reads the words after a command's name: its own options, the global options, and operands, in any order.
    static func read(
        _ words: [String], for command: CommandSpecification, after global: Arguments
    ) throws(Failure) -> Arguments {
        let options = command.options + CommandSpecification.globalOptions
        var (arguments, rest) = try read(words, options: options, stopsAtOperand: false, of: command)
        arguments.operands = rest
        let misplaced = command.options.first { arguments.has($0.name) && !$0.belongs(to: rest) }
        // The command itself says what is missing where no action was named.
        if let misplaced, !rest.isEmpty, !arguments.has("help") {
            let places = misplaced.actions.map { "'\(command.name) \($0)'" }.joined(separator: " and ")
            throw Failure(.usage, "--\(misplaced.name) is an option of \(places) only")
        }
        var all = global
        all.merge(arguments)
        return all
    }

    /// The place in the words is a variable of the C library. Tests read several command lines at once.
    private static let library = Mutex(())

    private static func read(
        _ words: [String], options: [OptionSpecification], stopsAtOperand: Bool, of command: CommandSpecification?
    ) throws(Failure) -> (Arguments, rest: [String]) {
        try library.withLock { _ throws(Failure) in
            try readAlone(words, options: options, stopsAtOperand: stopsAtOperand, of: command)
        }
    }

    private static func readAlone(
        _ words: [String], options: [OptionSpecification], stopsAtOperand: Bool, of command: CommandSpecification?
    ) throws(Failure) -> (Arguments, rest: [String]) {
        let argv = CStringArray(["ibeacon-gateway"] + words)
        let names = CStringArray(options.map(\.name))
        var table = options.indices.map { index in
            option(
                name: names.pointers[index],
                has_arg: options[index].argument == nil ? no_argument : required_argument,
                flag: nil, val: firstOptionValue + Int32(index))
        }
        table.append(option())
        var arguments = Arguments()
        getopt_restart()
        while true {
            // "+" stops at the first operand; ":" distinguishes a missing argument from an unknown option.
            let value = getopt_long(Int32(words.count + 1), argv.base, stopsAtOperand ? "+:h" : ":h", table, nil)
            switch value {
            case -1:
                let rest = argv.strings(from: Int(getopt_index()))
                return (arguments, rest)
            case Int32(UInt8(ascii: "h")):
                arguments.add("help", "")
            case Int32(UInt8(ascii: ":")):
                throw Failure(
                    .usage, missingArgument(argv.strings(from: Int(getopt_index()) - 1).first, options, command))
            case firstOptionValue...:
                let text = getopt_argument().map { String(cString: $0) } ?? ""
                let option = options[Int(value - firstOptionValue)]
                // As when a variable of a script is not set.
                guard !text.isEmpty || !option.takesPath else {
                    throw Failure(.usage, "--\(option.name) requires \(option.argument ?? ""), and got an empty text")
                }
                arguments.add(option.name, text)
            default:
                let words = argv.strings(from: Int(getopt_index()) - 1)
                throw Failure(.usage, unknownOption(refused(in: words), options, command))
            }
        }
    }

    /// The word that getopt_long refused.
    ///
    /// - Parameter words: From the one before the index of getopt_long on. The index is behind the refused word, but within a bundle of short
    ///   options, as which a word with one `-` is read, it is at that word until the last letter is read.
    private static func refused(in words: [String]) -> String {
        guard let before = words.first, words.count > 1 else { return words.first ?? "" }
        let letter = UInt8(truncatingIfNeeded: getopt_option())
        // Of a long option there is no letter.
        guard letter != 0, !(isBundle(before) && before.utf8.last == letter) else { return before }
        return isBundle(words[1]) && words[1].utf8.contains(letter) ? words[1] : before
    }

    /// Whether getopt_long reads a word as short options.
    private static func isBundle(_ word: String) -> Bool { word.hasPrefix("-") && !word.hasPrefix("--") }

    /// Option values are greater than every character, so that they differ from `-h` and `?`.
    private static let firstOptionValue: Int32 = 256

    private static func missingArgument(
        _ word: String?, _ options: [OptionSpecification], _ command: CommandSpecification?
    ) -> String {
        let name = word.map { String($0.drop { $0 == "-" }) } ?? ""
        let argument = options.first { $0.name == name }?.argument ?? "a value"
        return
            "--\(name) requires \(argument); see 'ibeacon-gateway \(command.map { $0.name + " " } ?? "")--help'"
    }

    private static func unknownOption(
        _ word: String, _ options: [OptionSpecification], _ command: CommandSpecification?
    ) -> String {
        let name = String(word.drop { $0 == "-" }.prefix { $0 != "=" })
        let place = command.map { "'\($0.name)' has" } ?? "there is"
        let help = "see 'ibeacon-gateway \(command.map { $0.name + " " } ?? "")--help'"
        // A description or a name may begin with a dash.
        let isOperand = isBundle(word) && command?.operands.isEmpty == false
        let dashes = "before a name or a description that begins with '-' write '--', after all options"
        guard let nearest = suggestion(for: name, among: options.map(\.name)) else {
            return "\(place) no option '\(word)'; \(isOperand ? dashes + "; " : "")\(help)"
        }
        return "\(place) no option '\(word)'; did you mean '--\(nearest)'?\(isOperand ? " Or " + dashes : "")"
    }
}

/// C strings that live as long as this object. getopt_long reorders the words but does not replace them.
private final class CStringArray {
    /// The words, followed by a null pointer.
    let base: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let owned: [UnsafeMutablePointer<CChar>]

    init(_ strings: [String]) {
        owned = strings.map { text in
            let bytes = text.utf8CString
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
            for (index, byte) in bytes.enumerated() { (copy + index).initialize(to: byte) }
            return copy
        }
        base = .allocate(capacity: strings.count + 1)
        for (index, pointer) in owned.enumerated() { (base + index).initialize(to: pointer) }
        (base + owned.count).initialize(to: nil)
    }

    deinit {
        for pointer in owned { pointer.deallocate() }
        base.deallocate()
    }

    var pointers: [UnsafePointer<CChar>] { owned.map { UnsafePointer($0) } }

    func strings(from index: Int) -> [String] {
        guard index >= 0, index < owned.count else { return [] }
        return (index..<owned.count).compactMap { base[$0].map { String(cString: $0) } }
    }
}
