package mercury

import "github.com/cellscape/cellscape/internal/enum"

// Standing is what the peer of a channel has proved to be by the keys of its handshake. Each
// includes those before it.
type Standing uint8

const (
	// Stranger has proved nothing to an end that asks for proof: a player, or anybody else.
	Stranger Standing = iota
	// Observer may see the status of the cluster.
	Observer
	// Operator may also tell the cluster what to do.
	Operator
	// Member is a process of the cluster.
	Member
	// Trusted is any peer of an end that asks for no proof. Such an end has no cluster keys,
	// because only trusted peers can reach it.
	Trusted
)

// String names the standing.
func (s Standing) String() string {
	return enum.Name(s, "standing", []string{
		Stranger: "stranger",
		Observer: "observer",
		Operator: "operator",
		Member:   "member",
		Trusted:  "trusted",
	})
}

// Standing implements Transport.
func (e *Endpoint) Standing(ch ChannelID) Standing {
	c := e.channel(ch)
	switch {
	case c == nil || c.condemned:
		return Stranger
	case e.cfg.Guard == nil:
		return Trusted
	case c.sealer == nil:
		return Stranger
	}
	return c.sealer.Standing()
}
