package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cellscape/cellscape/entity/baseapp"
	"github.com/cellscape/cellscape/mercury/mercurytest"
)

// faults is the bad time: a bad network, and now and then a process crashes or pauses.
func (c *Cluster) faults() error {
	link := c.opts.Link
	if link == (mercurytest.Link{}) {
		link = mercurytest.Link{
			Loss: c.chance.Float64() * 0.15, Duplicate: c.chance.Float64() * 0.05, Reorder: c.chance.Float64() * 0.1,
			Delay: time.Duration(c.chance.IntN(40)) * time.Millisecond, Jitter: time.Duration(1+c.chance.IntN(60)) * time.Millisecond,
		}
	}
	c.trace.Event(c.now, "link", "%+v", link)
	c.net.SetLink(link)
	end := c.now + c.opts.Faults
	c.noise.on, c.bad = c.opts.Noise, true
	for c.now < end {
		if err := c.runFor(time.Duration(500+c.chance.IntN(2500)) * time.Millisecond); err != nil {
			return err
		}
		if c.opts.Crash && c.chance.IntN(3) == 0 {
			c.crashOne(c.cellApps)
		}
		if c.opts.CrashBase && c.chance.IntN(4) == 0 {
			c.crashOne(c.baseApps)
		}
		if c.opts.CrashLogin && c.chance.IntN(4) == 0 {
			c.crashOne(c.logins)
		}
		if c.opts.CrashManager && c.fate.IntN(4) == 0 {
			c.crashManager()
		}
		if c.opts.Retire && c.leaving.IntN(6) == 0 {
			c.retireOne()
		}
		if c.opts.Cut {
			c.cutSome()
		}
		c.severOne()
		c.slowOne()
		if c.opts.Pause && c.chance.IntN(3) == 0 {
			c.pauseOne()
		}
	}
	return nil
}

// crashOne kills one of the apps, as long as another one is left, and lets it come back after a
// while.
func (c *Cluster) crashOne(apps []*Process) {
	alive := 0
	for _, p := range apps {
		if p.alive && !p.paused() {
			alive++
		}
	}
	p := apps[c.chance.IntN(len(apps))]
	if alive < 2 || !p.alive || p.paused() {
		return
	}
	p.crash()
	p.restartAt = c.now + time.Duration(1000+c.chance.IntN(8000))*time.Millisecond
}

// crashManager kills the CellAppMgr and lets it come back after a while: at once, as under a
// supervisor, or so late that everyone has given up its channel.
func (c *Cluster) crashManager() {
	if len(c.seats) > 0 {
		c.strikeSeat()
		return
	}
	if !c.manager.alive || c.manager.paused() {
		return
	}
	c.manager.crash()
	d := time.Duration(50+c.fate.IntN(4000)) * time.Millisecond
	if c.fate.IntN(4) == 0 {
		d += 10 * time.Second
	}
	c.manager.restartAt = c.now + d
}

// pauseOne stops a process for a moment. A CellApp, or a BaseApp whose bases others hold, sometimes pauses
// for longer than the manager waits, so that it is declared dead although it is only slow.
func (c *Cluster) pauseOne() {
	p := c.procs[c.chance.IntN(len(c.procs))]
	if !p.alive || p.paused() {
		return
	}
	d := time.Duration(50+c.chance.IntN(1500)) * time.Millisecond
	for _, q := range c.cellApps {
		if q == p && c.opts.Crash && c.chance.IntN(3) == 0 {
			d = time.Duration(3500+c.chance.IntN(3000)) * time.Millisecond
		}
	}
	if c.opts.Replicas > 0 && c.opts.CrashBase && slices.Contains(c.baseApps, p) && c.chance.IntN(2) == 0 {
		d = time.Duration(3500+c.chance.IntN(3000)) * time.Millisecond
	}
	p.pause(d)
}

// cut parts two processes for a while.
type cut struct {
	a, b  *Process
	until time.Duration
}

// cutSome joins those whose time is over, and now and then parts two processes: for a moment, or
// until their channel breaks. They then have to repair that by themselves, since nobody died.
func (c *Cluster) cutSome() {
	c.rejoin(func(x cut) bool { return x.until <= c.now })
	if c.chance.IntN(3) != 0 {
		return
	}
	apps := slices.Concat(c.cellApps, c.baseApps)
	x := cut{apps[c.chance.IntN(len(apps))], c.procs[c.chance.IntN(len(c.procs))], c.now}
	if c.chance.IntN(2) == 0 {
		x.b = apps[c.chance.IntN(len(apps))]
	}
	x.until += time.Duration(500+c.chance.IntN(14_000)) * time.Millisecond
	if x.a == x.b {
		return
	}
	c.cuts = append(c.cuts, x)
	c.part(x.a, x.b)
	c.trace.Event(c.now, "cut", "%s and %s for %v", x.a.Name, x.b.Name, x.until-c.now)
}

func (c *Cluster) part(a, b *Process) {
	c.parted = true
	c.net.Cut(a.at, b.at, true)
}

// rejoin ends the cuts that over picks.
func (c *Cluster) rejoin(over func(cut) bool) {
	c.cuts = slices.DeleteFunc(c.cuts, func(x cut) bool {
		if over(x) {
			c.net.Cut(x.a.at, x.b.at, false)
			return true
		}
		return false
	})
}

// heal ends all faults and lets everyone find back.
func (c *Cluster) heal() error {
	c.calm, c.world.calm, c.bad, c.noise.on = true, true, false, false
	c.rejoin(func(cut) bool { return true })
	c.trace.Event(c.now, "heal", "")
	c.net.SetLink(cleanLink())
	for _, p := range c.procs {
		if p.paused() {
			p.pausedUntil = c.now
		}
		p.slowUntil = 0
		if !p.alive && (!c.unled(p) || p.restartAt > 0) {
			p.restartAt = c.now + time.Millisecond
		}
	}
	if err := c.runFor(10 * time.Second); err != nil {
		return err
	}
	if err := c.runUntil(30*time.Second, c.allPlaying); err != nil {
		return err
	}
	// A proxy that was made for a twin which has since given up holds the name for that long.
	if err := c.runUntil(baseapp.AttachTimeout+2*twinRound, c.lastTwinPlays); err != nil {
		return err
	}
	if c.opts.Wild.Settlers > 0 {
		if err := c.runUntil(settleIn, c.settlersRest); err != nil {
			return err
		}
	}
	if c.opts.Wild.Beacons > 0 {
		if err := c.runUntil(lightIn, c.allLit); err != nil {
			return err
		}
	}
	if c.opts.Wild.Kicks {
		if err := c.runUntil(baseapp.AttachTimeout, c.kickedGone); err != nil {
			return err
		}
	}
	if !c.allPlaying() {
		return fmt.Errorf("40 s after the network healed not everyone is playing: %s", c.notPlaying())
	}
	return nil
}

// rest stops the world and demands that all copies agree.
func (c *Cluster) rest() error {
	for _, pl := range c.players {
		pl.resting = true
	}
	c.trace.Event(c.now, "rest", "")
	if err := c.runFor(2 * time.Second); err != nil {
		return err
	}
	if err := c.runUntil(slowestGossip, c.noneWaits); err != nil {
		return err
	}
	if err := c.runUntil(slowestTeleport, c.noneTravels); err != nil {
		return err
	}
	if err := c.runUntil(slowestPace, c.sameTime); err != nil {
		return err
	}
	if err := c.lull(); err != nil {
		return err
	}
	if err := c.runUntil(mendedIn, c.taped); err != nil {
		return err
	}
	if err := c.standStill(); err != nil {
		return err
	}
	c.observer.freeze(true) // again: ghosts compare themselves with their reals
	for _, pl := range c.players {
		pl.audit()
	}
	if err := c.runFor(4 * time.Second); err != nil {
		return err
	}
	var faults []error
	for _, k := range c.checkers {
		if err := k.converged(); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// standStill freezes the world in a moment in which every real is in place.
func (c *Cluster) standStill() error {
	settled := func() bool { return c.observer.last.Pending == 0 && c.observer.last.ReportsSinceFreeze >= 2 }
	for range 5 {
		if err := c.runUntil(20*time.Second, c.inPlace); err != nil {
			return err
		}
		c.still, c.stillAt = true, c.now
		c.observer.freeze(true)
		if err := c.runUntil(20*time.Second, settled); err != nil {
			return err
		}
		if !settled() {
			return fmt.Errorf("20 s after the world froze %d things are pending (status of %v s, %d reports since): %s",
				c.observer.last.Pending, c.observer.last.GameTime, c.observer.last.ReportsSinceFreeze, c.pending())
		}
		if c.inPlace() {
			return nil
		}
		c.still = false
		c.observer.freeze(false) // a geometry was on its way
		if err := c.runFor(700 * time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("though everyone stands still, there is always a real whose cell does not contain it")
}

// inPlace reports whether every real is in its cell, or so near that it may stay. A world that
// freezes when a line has just passed over many reals stays as it is, since nothing is handed over
// in it; a real that its cell left far behind does not see what is around it.
func (c *Cluster) inPlace() bool {
	for v := range c.reals() {
		p := v.Position()
		_, r, ok := v.cell.Tree().Leaf(v.cell.ID())
		if !v.cell.Ended() && !(ok && r.Distance(float64(p.X), float64(p.Z)) <= nearLine) {
			return false
		}
	}
	return true
}

// nearLine is how far beyond a line a real may stand without being out of place.
const nearLine = 20

// pending names who still has something to tell.
func (c *Cluster) pending() string {
	s := ""
	for b := range c.bases() {
		if b.Unreceived > 0 {
			s += fmt.Sprintf("%s: base %s (cell part %t, live %t) %v at %v has %d unreceived; ", b.p.Name, b.ID, b.HasCell, b.Live, b.Order, b.App, b.Unreceived)
		}
	}
	for p, a := range c.liveCellApps() {
		if n := a.Pending(); n > 0 {
			s += fmt.Sprintf("%s: %d pending; ", p.Name, n)
		}
	}
	for _, a := range c.observer.last.Apps {
		s += fmt.Sprintf("%s %d at %s; ", a.Role, a.Number, a.Address)
	}
	return s
}
