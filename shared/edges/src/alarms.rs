//! Alarms: jobs that come at a time. They are hints: what must happen is due in the table, and an alarm that is lost only makes it later. An alarm names
//! the time that it was set for; where the table knows another time by then, it is ignored.

use async_trait::async_trait;
use smartspace_domain::{Time, jobs::TriggerJob};

/// Sets alarms. Whatever can't be set is said in the log, and found when it is due.
#[async_trait]
pub trait Alarms: Send + Sync {
    /// Queues `job` at `at`, or soon after.
    async fn set(&self, at: Time, job: TriggerJob);
}

/// Sets none: what is due is found by `sweep` alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAlarms;

#[async_trait]
impl Alarms for NoAlarms {
    async fn set(&self, _at: Time, _job: TriggerJob) {}
}

#[cfg(feature = "aws")]
pub use aws::{Schedules, SqsAndSchedulerAlarms};

#[cfg(feature = "aws")]
mod aws {
    use std::{sync::Arc, time::Duration};

    use aws_sdk_scheduler::{
        error::DisplayErrorContext,
        operation::create_schedule::CreateScheduleError,
        types::{ActionAfterCompletion, FlexibleTimeWindow, FlexibleTimeWindowMode, Target},
    };
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    use sha2::{Digest, Sha256};
    use smartspace_domain::jobs::Job;

    use super::{Alarms, Time, TriggerJob, async_trait};
    use crate::{clock::Clock, envelope::seal};

    /// The longest delay of an SQS message. What lies further ahead gets a schedule.
    const DELAYED: Duration = Duration::from_mins(15);

    /// How far ahead a schedule lies at most: an alarm that comes before its time is set again, and what was answered, changed or dropped meanwhile
    /// leaves none behind for years.
    const AHEAD: Duration = Duration::from_hours(24);

    /// Where schedules are made, and what they send to.
    #[derive(Clone, Debug)]
    pub struct Schedules {
        /// The group.
        pub group: String,
        /// The role that sends.
        pub role: String,
        /// The triggers queue.
        pub target: String,
    }

    /// Alarms on AWS: a delayed message of the triggers queue, or beyond 15 minutes a schedule that is made once, sends one, and is gone.
    pub struct SqsAndSchedulerAlarms {
        /// The queues.
        pub sqs: aws_sdk_sqs::Client,
        /// The triggers queue.
        pub queue: String,
        /// The schedules.
        pub scheduler: aws_sdk_scheduler::Client,
        /// Theirs.
        pub schedules: Schedules,
        /// The clock.
        pub clock: Arc<dyn Clock>,
    }

    #[async_trait]
    impl Alarms for SqsAndSchedulerAlarms {
        async fn set(&self, at: Time, job: TriggerJob) {
            // Whole seconds are all that both know: up, since an alarm before its time only has to be set again.
            let now = self.clock.now();
            let at = halt_before(at, at.since(now));
            let wait = at.since(now);
            let set = match i32::try_from(wait.as_millis().div_ceil(1000)) {
                Ok(seconds) if wait <= DELAYED => self.delay(seconds, &job).await,
                _ => self.schedule(at, &job).await,
            };
            if let Err(error) = set {
                tracing::warn!(event = "alarm_not_set", %at, ?job, error, "an alarm was not set; what it is for is found when it is overdue");
            }
        }
    }

    impl SqsAndSchedulerAlarms {
        async fn delay(&self, seconds: i32, job: &TriggerJob) -> Result<(), String> {
            let body = seal(job).map_err(|error| error.to_string())?;
            let message = self.sqs.send_message().queue_url(&self.queue).message_body(body).message_group_id(job.group());
            message.delay_seconds(seconds).send().await.map(drop).map_err(|error| DisplayErrorContext(error).to_string())
        }

        async fn schedule(&self, at: Time, job: &TriggerJob) -> Result<(), String> {
            let (name, second) = (name_of(at, job)?, up_to_second(at));
            let body = seal(job).map_err(|error| error.to_string())?;
            let target = Target::builder().arn(&self.schedules.target).role_arn(&self.schedules.role).input(body).build();
            let window = FlexibleTimeWindow::builder().mode(FlexibleTimeWindowMode::Off).build();
            let schedule = self.scheduler.create_schedule().group_name(&self.schedules.group).name(&name);
            let schedule = schedule
                .schedule_expression(format!("at({})", second.to_whole_seconds().trim_end_matches('Z')))
                .target(target.map_err(|error| error.to_string())?)
                .flexible_time_window(window.map_err(|error| error.to_string())?)
                .action_after_completion(ActionAfterCompletion::Delete)
                // With the name, it makes a call whose answer was lost harmless to repeat.
                .client_token(&name);
            match schedule.send().await {
                Ok(_) => Ok(()),
                // The same alarm was set before.
                Err(error) if error.as_service_error().is_some_and(CreateScheduleError::is_conflict_exception) => Ok(()),
                Err(error) => Err(DisplayErrorContext(error).to_string()),
            }
        }
    }

    /// The first of the times before `at` by whole days that is yet to come, where `at` lies so far ahead: the same for whoever sets the alarm, so that
    /// one set twice stays one.
    fn halt_before(at: Time, wait: Duration) -> Time {
        let days = wait.as_millis().saturating_sub(1) / AHEAD.as_millis();
        let sooner = days.saturating_mul(AHEAD.as_millis());
        Time::from_millis(at.as_millis().saturating_sub(i64::try_from(sooner).unwrap_or(0)))
    }

    fn up_to_second(at: Time) -> Time {
        Time::from_millis(at.as_millis().saturating_add(999).div_euclid(1000).saturating_mul(1000))
    }

    /// The same for the same alarm, so that it is set once: up to 64 letters, digits, `-` and `_` are a name.
    fn name_of(at: Time, job: &TriggerJob) -> Result<String, String> {
        let job = serde_json::to_string(job).map_err(|error| error.to_string())?;
        let hash = Sha256::digest(format!("{} {job}", up_to_second(at).as_seconds()));
        Ok(URL_SAFE_NO_PAD.encode(hash))
    }

    #[cfg(test)]
    mod tests {
        use smartspace_domain::ids::RunId;

        use super::*;

        #[test]
        fn an_alarm_far_ahead_halts_each_day_at_the_same_time() {
            let now = Time::from_millis(1_760_000_000_000);
            let (hour, day) = (Duration::from_hours(1), AHEAD);
            let halt = |ahead: Duration| halt_before(now + ahead, ahead).since(now);
            assert_eq!([hour, day, day + hour, 2 * day, 3650 * day + hour].map(halt), [hour, day, hour, day, hour]);
            // Set again an hour later it is the same one, and at its halt the next.
            let at = now + 3 * day + hour * 2;
            assert_eq!(halt_before(at, at.since(now + hour)), now + hour * 2);
            assert_eq!(halt_before(at, at.since(now + hour * 2)), now + hour * 2 + day);
        }

        #[test]
        fn an_alarm_has_one_name_and_a_whole_second() {
            let job = |number| TriggerJob::WakeRun { run_id: RunId::new(Time::from_millis(1), number) };
            let (early, late) = (Time::from_millis(1_760_000_000_001), Time::from_millis(1_760_000_000_999));
            assert_eq!(up_to_second(early).to_whole_seconds(), "2025-10-09T08:53:21Z");
            assert_eq!(up_to_second(Time::from_millis(1_760_000_000_000)).to_whole_seconds(), "2025-10-09T08:53:20Z");
            let name = name_of(early, &job(1)).unwrap();
            assert_eq!(name_of(late, &job(1)).unwrap(), name);
            assert_eq!(name.len(), 43);
            assert_ne!(name_of(early, &job(2)).unwrap(), name);
            assert_ne!(name_of(late + Duration::from_secs(1), &job(1)).unwrap(), name);
        }
    }
}
