/// Seconds with two decimals, for people.
package func decimal(_ duration: Duration) -> String {
    let hundredths = (duration / .milliseconds(10)).rounded()
    let whole = Int64(hundredths) / 100
    let rest = Int64(hundredths) % 100
    return "\(whole).\(rest < 10 ? "0" : "")\(rest)"
}
