package cluster

import (
	"errors"
	"fmt"
	"time"
)

// toldWithin is the longest time until all know of a CellApp's load: a report, a tick of the
// manager and the message to the LoginApps, each of them late.
const toldWithin = time.Second

// validateOverload checks that logins are refused before a CellApp shows its players less. The two
// bounds belong to two roles, and only this Config sees both.
func (c *Config) validateOverload() error {
	o, l := c.Space.Overload.WithDefaults(), c.Logins.WithDefaults()
	faults := []error{l.Validate()}
	if l.Always {
		return errors.Join(faults...)
	}
	if o.Start < l.MaxLoad {
		faults = append(faults, fmt.Errorf("cluster: Config.Space.Overload.Start is %v, Logins.MaxLoad %v: players would see less before logins are refused; lower MaxLoad or raise Start", o.Start, l.MaxLoad))
	}
	if o.Patience < l.Tolerance+toldWithin {
		faults = append(faults, fmt.Errorf("cluster: Config.Space.Overload.Patience is %v, Logins.Tolerance %v: it must be %v longer, so that logins are refused before players see less", o.Patience, l.Tolerance, toldWithin))
	}
	return errors.Join(faults...)
}

// maxProxies is how many proxies logins may make a BaseApp have; 0 for no bound.
func (c *Config) maxProxies() int {
	if c.Logins.Always {
		return 0
	}
	return c.Logins.WithDefaults().MaxProxies
}
