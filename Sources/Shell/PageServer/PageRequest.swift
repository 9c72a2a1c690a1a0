/// A reading request.
package struct PageRequest {
    package let path: String
    /// The value after `?name=`; nil if there is none.
    package let argument: (_ name: String) -> String?

    package init(path: String, argument: @escaping (_ name: String) -> String?) {
        self.path = path
        self.argument = argument
    }
}
