package sim

import (
	"errors"
	"fmt"
)

// sendsTold checks that every message which an app could not send has a reason that takes care of
// it: its peer had gone, or its channel broke. A message for which there was no room between living
// apps, or that was too long for any channel, is lost, and a fault.
type sendsTold struct{ c *Cluster }

func (k *sendsTold) safe() error { return nil }

func (k *sendsTold) converged() error {
	var faults []error
	for _, u := range k.c.observer.last.Unsent {
		if u.Fault {
			faults = append(faults, fmt.Errorf("%d %s were not sent: %s", u.Count, u.Message, u.Reason))
		}
	}
	for _, pl := range k.c.players {
		if pl.client != nil && pl.client.Stats().Unsent > 0 && !pl.rogue {
			faults = append(faults, fmt.Errorf("%s could not send %d messages", pl.name, pl.client.Stats().Unsent))
		}
	}
	return errors.Join(faults...)
}
