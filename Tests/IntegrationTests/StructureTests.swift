import TestSupport
import Testing

/// What `Scripts/structure --check` says of a package with one target, `Thing`, and of its list of known breaches.
@Suite struct StructureTests {
    /// A declaration with so many lines.
    private static func lines(_ count: Int, of head: String) -> String {
        "\(head) {\n" + (2..<count).map { "    let a\($0) = 0\n" }.joined() + "}\n"
    }

    private static let fine = "the structure keeps its limits\n"
    /// 250 lines in its own file, and 200 in another one.
    private static let long = [
        "Long.swift": lines(250, of: "struct Long"), "Long+Part.swift": lines(200, of: "extension Long"),
    ]
    private static let reason = "\n    It is a table.\n"

    static let cases: [(name: String, files: [String: String], known: String, said: String)] = [
        (
            "a long type", long, "",
            "Thing.Long has 450 lines with its extensions, more than 400: give what it does to parts\n"
        ),
        ("a long type that is listed", long, "Thing.Long 450" + reason, fine),
        (
            "one that grew", long, "Thing.Long 449" + reason,
            "Thing.Long has 450 lines with its extensions, more than the 449 of Scripts/structure.known\n"
        ),
        ("one that has shrunk a little", long, "Thing.Long 470" + reason, fine),
        (
            "one that has shrunk", long, "Thing.Long 471" + reason,
            "Thing.Long has 450 lines with its extensions: lower its 471 in Scripts/structure.known\n"
        ),
        (
            "one that is short now", ["Long.swift": lines(400, of: "struct Long")], "Thing.Long 450" + reason,
            "Thing.Long has 400 lines with its extensions: take it out of Scripts/structure.known\n"
        ),
        (
            "one without a reason", long, "Thing.Long 450\n",
            "Scripts/structure.known: Thing.Long has no reason below it\n"
        ),
        (
            "an extension of nested types alone adds nothing",
            [
                "Long.swift": lines(250, of: "struct Long"),
                "Long+Part.swift": "extension Long {\n" + lines(200, of: "    struct Part") + "}\n",
            ], "", fine
        ),
        (
            "a type in the file of another", ["Long.swift": "struct Long {}\nstruct Short {}\n"], "",
            "Sources/Libraries/Thing/Long.swift: Short belongs in Short.swift\n"
        ),
        ("one that is listed", ["Long.swift": "struct Long {}\nstruct Short {}\n"], "Thing.Short elsewhere\n", fine),
        (
            "a private one, and a nested one", ["Long.swift": "struct Long {\n    enum A {}\n}\nprivate struct B {}\n"],
            "", fine
        ),
        (
            "one that is in its own file now", ["Short.swift": "struct Short {}\n"], "Thing.Short elsewhere\n",
            "Thing.Short is in a file of its name, or is none any more: take it out of Scripts/structure.known\n"
        ),
    ]

    @Test(arguments: cases)
    func `The list of known breaches may only shrink`(
        _ row: (name: String, files: [String: String], known: String, said: String)
    ) throws {
        let directory = try TemporaryDirectory()
        let scripts = "\(GatewayProcess.fixtures)/../../Scripts"
        try run("mkdir", ["-p", directory.file("Scripts"), directory.file("Sources/Libraries/Thing")])
        try run("cp", ["\(scripts)/structure", "\(scripts)/options.py", directory.file("Scripts")])
        try directory.write("", to: "Package.swift")
        try directory.write(row.known, to: "Scripts/structure.known")
        for (name, text) in row.files { try directory.write(text, to: "Sources/Libraries/Thing/\(name)") }
        let said = try run("sh", ["-c", "\(directory.file("Scripts/structure")) --check || true"])
        #expect(said == row.said, "\(row.name)")
    }
}
