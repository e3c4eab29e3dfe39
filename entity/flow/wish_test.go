package flow_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/cellscape/cellscape/entity"
	"github.com/cellscape/cellscape/entity/flow"
	"github.com/cellscape/cellscape/mercury"
)

func FuzzWish(f *testing.F) {
	w := flow.Wish{Name: "auction", Type: 3, On: mercury.Address{Salt: 9}, Props: []byte("props")}
	g := flow.Grant{Name: "auction", ID: 99, Type: 3, Err: fmt.Errorf("why: %w", entity.ErrTooMany)}
	f.Add(w.Append(nil))
	f.Add(g.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		var w flow.Wish
		if w.Parse(b) == nil && !bytes.Equal(w.Append(nil), b) {
			t.Errorf("a wish read from %x is written as %x", b, w.Append(nil))
		}
		var g flow.Grant
		if g.Parse(b) == nil && !bytes.Equal(g.Append(nil), b) {
			t.Errorf("a grant read from %x is written as %x", b, g.Append(nil))
		}
	})
}

func TestWishRoundTrip(t *testing.T) {
	want := flow.Wish{Name: "auction", Type: 3, Props: []byte("props")}
	var got flow.Wish
	if err := got.Parse(want.Append(nil)); err != nil || got.Name != want.Name || got.Type != 3 || string(got.Props) != "props" {
		t.Errorf("%+v, %v", got, err)
	}
	grant := flow.Grant{Name: "auction", ID: 99, Type: 3}
	var back flow.Grant
	if err := back.Parse(grant.Append(nil)); err != nil || back != grant {
		t.Errorf("%+v, %v", back, err)
	}
	for _, why := range []error{
		errors.New("why"), flow.Because(entity.ErrTimeout, "forgotten"), fmt.Errorf("%w: 8 names", entity.ErrTooMany), entity.ErrGone, flow.Because(entity.ErrNoEntity, "nobody"),
	} {
		no := flow.Grant{Name: "auction", Err: why}
		if err := back.Parse(no.Append(nil)); err != nil || back.Err == nil || back.Err.Error() != why.Error() {
			t.Fatalf("%v became %+v, %v", why, back, err)
		}
		for _, known := range []error{entity.ErrTimeout, entity.ErrNoEntity, entity.ErrTooMany, entity.ErrGone} {
			if errors.Is(back.Err, known) != errors.Is(why, known) {
				t.Errorf("%v became %v, which is %v: %v", why, back.Err, known, errors.Is(back.Err, known))
			}
		}
	}
	if flow.IsWish(flow.WishForBase-1) || !flow.IsWish(flow.WishForHolder) || flow.IsWish(flow.WishForHolder+1) {
		t.Error("which methods are wishes")
	}
}
