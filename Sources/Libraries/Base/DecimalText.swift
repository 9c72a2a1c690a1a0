/// Seconds with two decimals, for people.
package func decimal(_ duration: Duration) -> String {
    let hundredths = (duration / .milliseconds(10)).rounded()
    let whole = Int64(hundredths) / 100
    let rest = Int64(hundredths) % 100
    return "\(whole).\(rest < 10 ? "0" : "")\(rest)"
}

/// Seconds as a person sets them: without decimals if there are none to show (`10`, `2.50`).
package func seconds(_ duration: Duration) -> String {
    let text = decimal(duration)
    return text.hasSuffix(".00") ? String(text.dropLast(3)) : text
}
