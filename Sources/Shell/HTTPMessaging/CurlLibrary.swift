import CCurl

/// libcurl, loaded at the first use, and never linked.
package enum CurlLibrary {
    /// - Throws: `libraryMissing`, `libraryTooOld`
    static func load() throws(HTTPFailure) -> curl_functions {
        var functions = curl_functions()
        switch curl_load(&functions) {
        case 0: break
        case -1: throw .libraryMissing
        default: throw .libraryTooOld
        }
        // The function counts its calls, and initialises only at the first.
        guard functions.global_init(Int(curl_global_default)) == curl_ok else {
            throw .settings("libcurl cannot be initialised")
        }
        return functions
    }

    /// The version text, such as `libcurl/7.88.1 OpenSSL/3.0.17`.
    package static var version: String {
        get throws(HTTPFailure) {
            let functions = try load()
            let words = functions.version().map { String(cString: $0) } ?? ""
            return words.split(separator: " ").prefix(2).joined(separator: " ")
        }
    }
}
