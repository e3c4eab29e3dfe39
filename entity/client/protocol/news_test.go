package protocol_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cellscape/cellscape/entity/client/protocol"
	"github.com/cellscape/cellscape/property"
)

// News come in the order in which they were written, behind the places, and take a byte or two each
// beside what they tell.
func TestNews(t *testing.T) {
	s, err := property.NewSchema(&property.Definition{Name: "A", HasCell: true, HasClient: true, ClientMethods: []*property.Method{{Name: "a"}, {Name: "b", Unreliable: true}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []protocol.News{
		{Alias: 5, Body: []byte{2, 9, 9}},
		{Alias: 3, Call: true, Body: protocol.AppendWhisper(nil, 1, []byte("args"))},
		{Alias: protocol.MaxAlias - 1, Call: true, Body: protocol.AppendWhisper(nil, 2, nil)},
	}
	head := protocol.PacketHead{After: 3, Number: 7}
	b := packet(head, protocol.NearBy, protocol.Near{}.Append(nil, false), 4)
	for i, n := range want {
		before := len(b)
		if b = n.Append(b); len(b)-before-len(n.Body) > protocol.MaxNewsHead || i == 0 && len(b)-before-len(n.Body) != 2 {
			t.Errorf("news of %d bytes take %d", len(n.Body), len(b)-before)
		}
	}
	places, i := 0, 0
	var r protocol.PositionsReader
	err = r.Read(b, func(*protocol.PacketHead, *protocol.Moved) { places++ }, func(h *protocol.PacketHead, n *protocol.News) {
		if w := &want[i]; n.Alias != w.Alias || n.Call != w.Call || !bytes.Equal(n.Body, w.Body) || n.Order != uint32(i) || h.Number != 7 {
			t.Errorf("%+v, want %+v", n, w)
		}
		m, args, err := n.Whisper(s.Types[0])
		switch {
		case i == 1 && (err != nil || m.Name != "b" || string(args) != "args"):
			t.Error(m, args, err)
		case i == 2 && !errors.Is(err, protocol.ErrMalformed):
			t.Error("a method that there is not:", err)
		}
		i++
	})
	if err != nil || places != 1 || i != len(want) {
		t.Fatal(err, places, i)
	}
}
