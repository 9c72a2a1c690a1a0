/// - Parameter sorted: Empty gives NaN.
package func percentile(_ share: Double, of sorted: [Double]) -> Double {
    guard !sorted.isEmpty else { return .nan }
    let position = share * Double(sorted.count - 1)
    let low = Int(position)
    let high = min(low + 1, sorted.count - 1)
    return sorted[low] + (sorted[high] - sorted[low]) * (position - Double(low))
}
