use std::collections::HashMap;

use super::*;

/// Random interning and removing beside a plain map, with chains long and short and through several growths.
#[test]
fn keys_keep_their_slots_until_removed() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let keys = random.u32(1..2000);
        let hashes = random.u64(1..5000);
        let hash = |key: u32| u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) % hashes;
        let mut slots = Slots::new();
        let mut known: HashMap<u32, SlotId> = HashMap::new();
        for _ in 0..1000 {
            let key = random.u32(..keys);
            assert_eq!(slots.find(hash(key), &key), known.get(&key).copied(), "seed {seed}");
            if random.u8(..3) == 0 {
                if let Some(id) = known.remove(&key) {
                    slots.remove(id);
                }
            } else {
                let id = slots.intern(hash(key), key);
                assert_eq!(*known.entry(key).or_insert(id), id, "seed {seed}");
                assert_eq!(slots[id].key, key, "seed {seed}");
            }
            assert_eq!(slots.is_empty(), known.is_empty());
        }
    }
}

#[test]
fn a_burst_is_given_back_when_the_last_key_goes() {
    let mut slots = Slots::new();
    let ids: Vec<SlotId> = (0..100_000).map(|key| slots.intern(key, key)).collect();
    let (last, others) = ids.split_last().unwrap();
    others.iter().for_each(|id| slots.remove(*id));
    assert_eq!(slots.find(99_999, &99_999), Some(*last));
    slots.remove(*last);
    assert!(slots.is_empty());
    assert_eq!((slots.slots.capacity(), slots.heads.len()), (0, FIRST_CHAINS));
}
