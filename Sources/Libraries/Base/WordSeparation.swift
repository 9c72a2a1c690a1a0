/// The words of a name in camel case, in lower case with a separator: `leaveAfter` is `leave_after`.
package func separatedWords(of name: String, by separator: Character) -> String {
    var words = ""
    var followsLowercase = false
    for character in name {
        if character.isUppercase, followsLowercase { words.append(separator) }
        words += character.lowercased()
        followsLowercase = character.isLowercase
    }
    return words
}
