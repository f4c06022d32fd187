//! Metadata of a trace, in front of its events or behind them.

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::meaning::unescaped;
use super::value::Value;
use crate::trace::capture::CaptureEnvironment;

/// Start of the names of clocks that all captures of a process share.
pub(in crate::trace) const SHARED_CLOCK: &str = "process of ";

/// Metadata of a trace.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) schema_version: Option<String>,
    /// Two names of one number: neither is sure.
    device_names: FxHashMap<i64, Option<String>>,
    /// True if they are there and cannot be read.
    pub(super) lost_devices: bool,
    pub(super) lost_rank: bool,
    base_time: String,
    host: String,
    rank: String,
    /// The same as a number, and how many ranks there are.
    pub(super) place: (Option<i64>, Option<u64>),
    /// The name of one of our own documents.
    schema: Option<String>,
    /// True for a trace that `--trace` drew.
    pub(super) is_drawn: bool,
    environment: CaptureEnvironment,
}

impl Metadata {
    /// A value that no longer borrows from the text; `None` if it is not JSON.
    pub(super) fn owned(value: Value<'_>) -> Option<Json> {
        let parsed = |text: &[u8]| serde_json::from_slice(text).ok();
        match value {
            Value::Text(text) => Some(Json::String(unescaped(text).0.into_owned())),
            Value::Bare(text) | Value::Nested(text) => parsed(text),
        }
    }

    /// A member of the outermost object.
    pub(super) fn take(&mut self, key: &[u8], value: Json) {
        match (key, value) {
            (b"schemaVersion", value) => self.schema_version = Some(plain(&value)),
            (b"baseTimeNanoseconds", value) => self.base_time = plain(&value),
            (b"host_name", value) => {
                self.host = plain(&value);
                self.environment.host_name = CaptureEnvironment::text(&self.host);
            }
            (b"distributedInfo", Json::Object(members)) => {
                self.rank = members.get("rank").map(plain).unwrap_or_default();
                let (rank, size) = (members.get("rank"), members.get("world_size"));
                let rank = rank.and_then(Json::as_i64);
                // A process outside the group has -1.
                self.lost_rank |= rank.is_some_and(|rank| rank < 0);
                self.place = (rank.filter(|&rank| rank >= 0), size.and_then(Json::as_u64));
            }
            (b"deviceProperties", value) => self.take_devices(&value),
            // Some writers put these values here, others next to it.
            (b"metadata", Json::Object(members)) => {
                for (key, value) in members {
                    self.take(key.as_bytes(), value);
                }
            }
            (b"drawnBy", Json::String(program)) => self.is_drawn = program == "fastrnns-rs",
            (b"schema", Json::String(name)) => self.schema = Some(name),
            (key, value) => self.take_condition(key, &value),
        }
    }

    fn take_devices(&mut self, devices: &Json) {
        self.lost_devices |= !(devices.is_array() || devices.is_null());
        for device in devices.as_array().into_iter().flatten() {
            let (Some(id), Some(name)) = (device["id"].as_i64(), device["name"].as_str()) else {
                self.lost_devices = true;
                continue;
            };
            let known = self.device_names.entry(id).or_insert_with(|| Some(name.to_owned()));
            known.take_if(|known| known != name);
        }
    }

    /// A member of the outermost object whose value cannot be read.
    pub(super) fn lose(&mut self, key: &[u8]) {
        self.lost_devices |= key == b"deviceProperties";
        self.lost_rank |= key == b"distributedInfo";
    }

    /// A member that describes the conditions of the capture.
    fn take_condition(&mut self, key: &[u8], value: &Json) {
        let environment = &mut self.environment;
        let setting = match key {
            b"cuda_driver_version" => {
                environment.cuda_driver_version = CaptureEnvironment::cuda_version(&plain(value));
                return;
            }
            b"cuda_runtime_version" => {
                environment.cuda_runtime_version = CaptureEnvironment::cuda_version(&plain(value));
                return;
            }
            b"record_shapes" => &mut environment.record_shapes,
            b"profile_memory" => &mut environment.profile_memory,
            b"with_stack" => &mut environment.with_stack,
            b"with_flops" => &mut environment.with_flops,
            b"with_modules" => &mut environment.with_modules,
            _ => return,
        };
        *setting = Some(matches!(plain(value).as_str(), "1" | "true"));
    }

    pub(super) fn device_name(&self, id: Option<i64>) -> Option<String> {
        self.device_names.get(&id?)?.clone()
    }

    /// Returns the conditions of the capture. A trace records only the settings that are on. Without any of these keys it may be
    /// of a torch that did not record them.
    pub(super) fn environment(&self) -> CaptureEnvironment {
        let mut found = self.environment.clone();
        if found != CaptureEnvironment::default() {
            let settings =
                [&mut found.record_shapes, &mut found.profile_memory, &mut found.with_stack, &mut found.with_flops];
            for setting in settings.into_iter().chain([&mut found.with_modules]) {
                setting.get_or_insert(false);
            }
        }
        found
    }

    /// The name of the clock of this trace, different from that of others: captures of one process share it. Where the host is
    /// not known, `capture` sets it apart: in containers processes of equal numbers are common, and so are their correlations.
    pub(super) fn clock(&self, capture: usize) -> String {
        if self.host.is_empty() {
            return format!("capture {capture} of kineto");
        }
        format!("{SHARED_CLOCK}{} {} {}", self.base_time, self.host, self.rank)
    }

    /// Returns the fault of a document without events.
    pub(super) fn without_events(&self, fault: Option<&str>) -> String {
        match (&self.schema, fault) {
            (Some(schema), _) => format!("the file is a {schema} document"),
            (None, Some(fault)) => format!("the file has no traceEvents: {fault}"),
            (None, None) => "the file is JSON without traceEvents".to_owned(),
        }
    }
}

/// The text of a word or a number.
fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
