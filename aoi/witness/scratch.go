package witness

import (
	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// Scratch is what an Update works with: memory, and what it counts in. Witnesses whose Updates come one
// after the other may share one (WorkWith), which so stays in the processor's cache: of its own memory, a
// witness then touches what it has to remember. The zero value is usable.
type Scratch struct {
	// Stats counts what is made for clients about other entities, as property.ToOtherClients and Moves,
	// including what is given back to Unsent; nil counts nothing. The properties with which an entity
	// is met are not changes and are not counted.
	Stats *property.Stats
	// Told counts what is made for clients; nil counts nothing. What is given back to Unsent does not
	// count as places sent, its bytes do.
	Told *Told
	// Compressor packs the properties of an Enter for a type whose Compression.External asks for it;
	// with nil they go unpacked.
	Compressor *property.Compressor

	desk desk
}

// desk is the memory of an Update.
type desk struct {
	with    *Scratch // that it is of
	due     []turn   // of an Update that looks at all
	need    int      // bytes that they need, as far as that can be told before
	words   int      // how many are due something reliable
	bundle  []byte
	header  int      // bytes of the bundle before its first message
	picked  []uint64 // a bit for each entry of which the place goes into a packet
	forms   []form   // for each of those, how
	changed []change // scratch of one entity
	props   []byte   // scratch of one message
	packed  []byte   // the same message, packed
	place   []byte   // of an Enter
	calls   int      // bytes of the calls in what is being told of an entity
	pages   pages
}

// pages is what the packets of an Update are made with.
type pages struct {
	with   *Scratch
	after  uint64 // the bundle that the packets come after
	now    moment
	update uint32 // Witness.updates
	origin [2]int32
	epoch  uint8

	planned, written tally
	counted          counted
	lists            protocol.Lists // of the packet that is being written
	news             []byte         // of this Update
	pieces           []piece        // of news
	hints            []hint
	tail             []byte // the news of the packet that is being written
	told             []told
	buf              []byte
	ends             []int
	packets          [][]byte
}

// WorkWith has the next Updates work with s; without it the witness makes a Scratch of its own. What an
// Update returns, and what Unsent takes back, is valid until the next Update that works with the same.
func (w *Witness) WorkWith(s *Scratch) {
	s.desk.with, s.desk.pages.with = s, s
	w.desk, w.moves.pages = &s.desk, &s.desk.pages
}
