/// How the numbers of a region description are written. OwnTracks read them as hexadecimal until
/// 2015 and as decimal since; its documents still show both.
public enum NumberBase: String, CaseIterable, Sendable {
    /// Hexadecimal if it has `0x`, a letter A-F, or is four characters with a leading zero, or if the
    /// other number of the same description is hexadecimal by these rules; else decimal.
    case auto
    /// All numbers are decimal.
    case decimal
    /// All numbers are hexadecimal, with or without `0x`.
    case hexadecimal = "hex"
}
