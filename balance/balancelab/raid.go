package main

import "time"

// raid is a world of parties that gather at the places of bosses, one after the other, as fast as
// their steeds allow. Each party stays a while, then goes to the next place of its round.
type raid struct {
	crowd
	bosses  []point
	parties []party
	spots   []point // of the members about their boss
}

// party is one round: it begins with a boss and takes every step-th from there.
type party struct {
	boss, step int
	offset     time.Duration // parties change places at different times
	place      point
}

const (
	raidParty  = 40 // members
	raidBosses = 31 // a prime, so that every round takes in all
	raidStay   = 90 * time.Second
	raidSpeed  = 200.0 // metres per second: a recall, rather than a ride
	raidSpot   = 40.0  // metres around a boss that a party takes up
	raidStroll = 5.0
	// raidRests is from when on parties stay where they are, as a share of the run.
	raidRests = 0.75
)

func newRaid(c crowd, _ *config) scenario {
	r := &raid{crowd: c, spots: make([]point, c.entities)}
	for range raidBosses {
		r.bosses = append(r.bosses, r.near(point{}, r.size*0.45))
	}
	for range (c.entities + raidParty - 1) / raidParty {
		r.parties = append(r.parties, party{
			boss: r.chance.IntN(raidBosses), step: 1 + r.chance.IntN(raidBosses-1),
			offset: time.Duration(r.chance.Float64() * float64(raidStay)),
		})
	}
	r.tick(0)
	return r
}

func (r *raid) tick(now time.Duration) {
	r.now = now
	for i := range r.parties {
		p := &r.parties[i]
		turn := int((min(now, r.share(raidRests)) + p.offset) / raidStay)
		p.place = r.bosses[(p.boss+turn*p.step)%raidBosses]
	}
}

func (r *raid) start(i int) point {
	r.spots[i] = r.about(point{}, raidSpot)
	return r.place(i)
}

func (r *raid) place(i int) point {
	return r.parties[i/raidParty].place.plus(r.spots[i].x, r.spots[i].z)
}

func (r *raid) goal(i int, at point) (point, float64) {
	place := r.place(i)
	if at.distance(place) <= 2*raidStroll {
		return r.near(place, raidStroll), walking
	}
	return place, raidSpeed
}

// disturbances is the raiding, until the last party can have arrived from the other end of the
// world.
func (r *raid) disturbances() []disturbance {
	way := time.Duration(r.size * 1.28 / raidSpeed * float64(time.Second)).Truncate(time.Second)
	return []disturbance{{0, r.share(raidRests) + way}}
}
