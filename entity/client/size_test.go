package client

import (
	"reflect"
	"testing"

	"github.com/cellscape/cellscape/property"
)

// A process that plays thousands of clients holds a hundred thousand replicas. What a place that arrives
// touches is one line of the processor's cache, and a replica with its properties takes no more than is
// needed.
func TestReplicaIsSmall(t *testing.T) {
	r := reflect.TypeFor[Replica]()
	first, _ := r.FieldByName("Position")
	last, _ := r.FieldByName("rare")
	if end := last.Offset + last.Type.Size(); first.Offset != 0 || end > 64 {
		t.Errorf("what a place touches ends at %d bytes", end)
	}
	if size := r.Size(); size > 128 {
		t.Errorf("a replica takes %d bytes", size)
	}
	if size := reflect.TypeFor[property.Values]().Size(); size > 80 {
		t.Errorf("the head of its properties takes %d bytes", size)
	}
	// An allocation of a client, with its header of 8 bytes, fits a class of Go's allocator. The
	// next takes 1792.
	const class, header = 1536, 8
	if size := reflect.TypeFor[Client]().Size(); size > class-header {
		t.Errorf("a client takes %d bytes", size)
	}
}
