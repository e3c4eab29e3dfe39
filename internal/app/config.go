package app

import (
	"net/netip"
	"time"

	"github.com/cellscape/cellscape/internal/faults"
	"github.com/cellscape/cellscape/mercury"
	"github.com/cellscape/cellscape/property"
)

// Config is what the configurations of all apps that join a manager have in common.
type Config struct {
	Transport mercury.Transport
	Manager   netip.AddrPort
	Schema    *property.Schema
	Tick      time.Duration
}

// Check adds what is wrong with c to all. tick is the default of Tick.
func (c Config) Check(all *faults.List, tick time.Duration) {
	all.If(c.Transport == nil, "Config.Transport is nil: give the transport of this process")
	all.If(!c.Manager.IsValid() || c.Manager.Port() == 0, "Config.Manager is %v: give the address and port of the CellAppMgr", c.Manager)
	all.If(c.Schema == nil, "Config.Schema is nil: load the cluster's definitions")
	all.If(c.Tick < 0, "Config.Tick is %v: give a time above zero, or zero for %v", c.Tick, tick)
}
