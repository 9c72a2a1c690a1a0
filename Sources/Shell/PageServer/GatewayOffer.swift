package import Configuration

/// What a page answers at `/gateway.json`: the command that makes the card of another gateway, and what the files of that card hold,
/// without secrets.
///
/// The commands of the program know how a card is made. A page only passes the request on.
package typealias GatewayOffer = (Configuration, PageRequest) -> PageAnswer
