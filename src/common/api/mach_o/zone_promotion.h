// How a zone becomes the default one. The system has a list of zones, whose first is the default, and no call to choose it: a new zone goes to
// the end, and when a zone leaves, the last one takes its place. So the default zone is made to leave and come back until ours is first.
//
// Zones is the system's list, malloc/malloc.h in the library (zone.cpp) and a model of it in the unit tests:
//
//   Zone                           opaque
//   void append(Zone*), void remove(Zone*)
//   Zone* first()
//   Zone* purgeable()              the zone of purgeable memory, which takes its small blocks from the default zone of before; null if none
//
// While a zone is not in the list, the system does not know its blocks: to be done when the library is loaded, before the program has threads.
#pragma once

namespace hakozuna::api {

// False if it did not work, after as many attempts as there can be zones; all zones are in the list all the same.
template <class Zones, class Zone>
bool promote_to_default(Zone* ours) {
  constexpr int kMostZones = 64;
  // Asked for first, because it is made at the first question, and would be made of us later.
  Zone* const purgeable = Zones::purgeable();
  Zones::append(ours);
  for (int i = 0; i < kMostZones; ++i) {
    Zone* const first = Zones::first();
    if (first == ours) return true;
    Zones::remove(first);
    Zones::append(first);
    // Behind the zone it takes blocks from: the system asks in order whose a block is.
    if (purgeable && purgeable != first) {
      Zones::remove(purgeable);
      Zones::append(purgeable);
    }
  }
  return Zones::first() == ours;
}

}  // namespace hakozuna::api
