package placement_test

import (
	"testing"

	"github.com/cellscape/cellscape/entity/placement"
)

// TestTexts sees that each reason has a name of its own, and what people are shown.
func TestTexts(t *testing.T) {
	seen := map[string]placement.Code{}
	for c := placement.Vetoed; c <= placement.LastCode; c++ {
		if before, ok := seen[c.String()]; ok || c.String() == "" {
			t.Errorf("%d and %d are both %q", before, c, c)
		}
		seen[c.String()] = c
	}
	for err, want := range map[error]string{
		&placement.TeleportError{Code: placement.Full}:                      "teleport: full",
		&placement.CreateError{Code: placement.NoSpace, Reason: "it burnt"}: "create: no such space: it burnt",
		&placement.CreateError{Code: placement.LastCode + 1}:                "create: placement(13)",
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	if !placement.Loading.Passing() || placement.Full.Passing() {
		t.Error("a full space is waited for, or land that loads is not")
	}
}
