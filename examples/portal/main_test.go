package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// Both see the dragon through the portal where it is seen from the town, go through together and keep each
// other on the screen, and find the dragon where it is.
func TestThroughThePortal(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole run")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	said := new(bytes.Buffer)
	if err := run(ctx, said); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	t.Log(said)
	if strings.Contains(said.String(), "not done") {
		t.Errorf("a script could not do something:\n%s", said)
	}
}
