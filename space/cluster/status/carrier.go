package status

import "strconv"

// Carrier has the figures of one network of an app. A figure that the network does not have is 0.
// Counters run since the start of the app.
type Carrier struct {
	Network string `json:"network"` // udp, tcp, quic, websocket
	// Outer means that it is a door for players; Sealed means that nobody on the way can read or
	// forge what passes.
	Outer  bool `json:"outer,omitempty"`
	Sealed bool `json:"sealed,omitempty"`
	// Address is where it is reached, and Name the host name for those who dial by name.
	Address string `json:"address"` // place#salt
	Name    string `json:"name,omitempty"`

	Channels uint64  `json:"channels"` // now
	Queued   uint64  `json:"queued"`   // bytes of reliable messages that wait to be sent
	RTT      float64 `json:"rtt_ms"`   // mean of the channels
	Loss     float64 `json:"loss"`     // share of packets lost, 0 to 1: lately over UDP, since the start over TCP; 0 where nobody knows

	MessagesIn  uint64 `json:"messages_in"`
	MessagesOut uint64 `json:"messages_out"`
	BytesIn     uint64 `json:"bytes_in"`
	BytesOut    uint64 `json:"bytes_out"`
	Resends     uint64 `json:"resends"`
	Lost        uint64 `json:"lost"`    // packets
	Refused     uint64 `json:"refused"` // channels and hellos that were refused
	Dropped     uint64 `json:"dropped"` // unreliable messages without room
	Full        uint64 `json:"full"`    // reliable messages without room

	// Counts are what else the carrier counts: mercury and udp over UDP, and secure where that seals
	// it; over others unopened, the connections that got no channel, by what kept them out
	// (mercury.CarrierStats). What udp counts is of the socket, which may be older than the app.
	Counts Counts `json:"counts,omitempty"`
}

// Numbers returns the figures in a fixed order.
func (c *Carrier) Numbers() []*uint64 {
	return []*uint64{&c.Channels, &c.Queued, &c.MessagesIn, &c.MessagesOut, &c.BytesIn, &c.BytesOut, &c.Resends, &c.Lost, &c.Refused, &c.Dropped, &c.Full}
}

// scheme returns the URL scheme by which session.Config.LoginApp names a network, sealed or in the
// clear.
func scheme(network string, sealed bool) string {
	switch {
	case network == "websocket" && sealed:
		return "wss"
	case network == "websocket":
		return "ws"
	case network == "tcp" && sealed:
		return "tls"
	}
	return network
}

// URL names the carrier as session.Config.LoginApp takes it: "wss://play.example.com:20014".
func (c *Carrier) URL() string {
	a := App{Address: c.Address}
	at := a.AddrPort()
	if c.Name != "" {
		return scheme(c.Network, c.Sealed) + "://" + c.Name + ":" + strconv.Itoa(int(at.Port()))
	}
	return scheme(c.Network, c.Sealed) + "://" + at.String()
}

// Doors returns the URLs of the app's doors.
func (a *App) Doors() (urls []string) {
	for i := range a.Carriers {
		if a.Carriers[i].Outer {
			urls = append(urls, a.Carriers[i].URL())
		}
	}
	return urls
}
