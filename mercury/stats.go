package mercury

// Stats counts what an Endpoint did since it was made. The Bad counters tell datagrams that were dropped by why.
type Stats struct {
	// Channels is the number of channels now, condemned and dialling ones included: 0 says that an app may exit.
	Channels int

	PacketsIn, PacketsOut   uint64 // datagrams taken and handed out
	BytesIn, BytesOut       uint64 // their payloads
	MessagesIn, MessagesOut uint64 // messages delivered and accepted for sending
	Resends                 uint64 // segments sent again
	Lost                    uint64 // packets taken for lost
	Duplicates              uint64 // packets that came before, or too late to tell
	Opened                  uint64 // channels opened, both ways
	Refused                 uint64 // opens refused, for MaxChannels or a wrong salt
	ResetsIn, ResetsOut     uint64 // notices that a channel is unknown
	UnreliableDropped       uint64 // unreliable messages dropped at the sender for want of room

	BadSize     uint64 // too short, too long, or not of the size of its kind
	BadChecksum uint64 // damaged, or not of this protocol
	BadKind     uint64 // a kind that does not exist, or fields that none sends
	BadCookie   uint64 // an open whose cookie is too old or was not given by this start
	BadChannel  uint64 // for a channel that is not here, or with the wrong key
	BadFrame    uint64 // rightly keyed, but malformed inside: closes its channel
	Throttled   uint64 // answers withheld by a rate limit
}
