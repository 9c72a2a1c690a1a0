/// Runs `body`, and throws what `translate` makes of its error.
package func mapError<Value: ~Copyable, From: Error, To: Error>(
    _ translate: (From) -> To, _ body: () throws(From) -> Value
) throws(To) -> Value {
    do throws(From) { return try body() } catch { throw translate(error) }
}
