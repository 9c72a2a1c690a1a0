/// The files of the page as prepared answers.
struct PageFiles {
    private var responses: [String: HTTPResponse] = [:]

    /// - Returns: nil if memory is short.
    init?(_ files: [PageFile]) {
        for file in files {
            guard let response = HTTPResponse(status: 200, type: file.type, body: file.content) else { return nil }
            responses[file.path] = response
        }
    }

    subscript(path: String) -> HTTPResponse? { responses[path] }
}
