package main

import "time"

// flashcrowd is a world whose whole crowd rushes to one square kilometre, mills about there, and
// disperses.
type flashcrowd struct {
	crowd
	homes, spots []point
}

const (
	flashBegins    = 0.3  // of the run
	flashDisperses = 0.7  // of the run
	flashHalf      = 500. // metres, half the side of the square
	flashX, flashZ = 0.12, -0.08
	// flashTravel is how long the journeys take, however far: everyone goes as fast as needed. In a
	// run of less than ten minutes it is a tenth of the run.
	flashTravel = time.Minute
	// flashMill is how far people step about while they are there.
	flashMill = 20.0
)

func newFlashcrowd(c crowd, _ *config) scenario {
	return &flashcrowd{crowd: c, homes: make([]point, c.entities), spots: make([]point, c.entities)}
}

func (f *flashcrowd) start(i int) point {
	f.homes[i] = f.anywhere()
	f.spots[i] = f.near(point{flashX * f.size, flashZ * f.size}, flashHalf)
	return f.homes[i]
}

func (f *flashcrowd) travel() time.Duration { return min(flashTravel, f.share(0.1)) }

// way is how far the crowd has come: 0 at home, 1 at the spot. moving says whether it travels.
func (f *flashcrowd) way() (share float64, moving bool) {
	there, back := f.now-f.share(flashBegins), f.now-f.share(flashDisperses)
	switch travel := f.travel(); {
	case there < 0 || back >= travel:
		return 0, false
	case back >= 0:
		return 1 - float64(back)/float64(travel), true
	case there < travel:
		return float64(there) / float64(travel), true
	}
	return 1, false
}

// asFastAsNeeded is a speed that arrives anywhere within a step.
const asFastAsNeeded = 1e6

func (f *flashcrowd) goal(i int, at point) (point, float64) {
	share, moving := f.way()
	home, spot := f.homes[i], f.spots[i]
	place := home.plus(float64((spot.x-home.x)*share), float64((spot.z-home.z)*share))
	if moving {
		return place, asFastAsNeeded
	}
	return f.near(place, flashMill), walking
}

func (f *flashcrowd) disturbances() []disturbance {
	there, back := f.share(flashBegins), f.share(flashDisperses)
	return []disturbance{{there, there + f.travel()}, {back, back + f.travel()}}
}
