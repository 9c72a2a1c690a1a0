/// A number of things in words: "1 message", "2 messages".
///
/// - Parameter noun: In the singular; its plural ends with "s".
package func counted(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
}
