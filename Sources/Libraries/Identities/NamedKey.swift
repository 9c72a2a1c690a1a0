/// A key that a description of a region gave, as `Jane:irk:…`. It is stored among the keys of phones, and nowhere else.
package struct NamedKey: Hashable, Sendable {
    /// The name of the region.
    package let name: String
    package let key: IdentityKey

    package init(name: String, key: IdentityKey) { (self.name, self.key) = (name, key) }
}
